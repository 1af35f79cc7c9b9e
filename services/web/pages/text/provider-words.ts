// What the pages say of signing in through an identity provider, in parts that only then are loaded.

import { type Catalogue, sayOf, type With } from "../../../../config/text.ts";
import { languageNow } from "./text.ts";

const words = {
  "provider.button": ["Sign in through your organisation", "조직 계정으로 로그인"],
  "provider.from": ({ host }: With<"host">) => [`from ${host}`, `${host} 계정`],
  "provider.refused.group": [
    "Your organisation knows you, but you are in none of the groups that may use Owl. Ask an administrator.",
    "조직 계정은 확인됐지만 Owl을 쓸 수 있는 그룹에 없습니다. 관리자에게 요청해 주세요.",
  ],
  "provider.refused.domain": [
    "Your mail address is not verified, or not of a domain that may use Owl. Ask an administrator.",
    "메일 주소가 확인되지 않았거나 Owl을 쓸 수 있는 도메인이 아닙니다. 관리자에게 요청해 주세요.",
  ],
  "provider.refused.disabled": [
    "Your account is disabled. Ask an administrator.",
    "사용이 중지된 계정입니다. 관리자에게 요청해 주세요.",
  ],
  "provider.refused.unknown": [
    "You have no account here, and none is made by itself. Ask an administrator.",
    "여기에 계정이 없고 자동으로 만들어지지 않습니다. 관리자에게 요청해 주세요.",
  ],
  "provider.refused.declined": [
    "You were not signed in there. Try again.",
    "조직 계정으로 로그인하지 않았습니다. 다시 시도해 주세요.",
  ],
  "provider.refused.expired": [
    "This sign-in took too long, or began in another browser. Try again.",
    "로그인이 너무 오래 걸렸거나 다른 브라우저에서 시작되었습니다. 다시 시도해 주세요.",
  ],
  "provider.refused.away": [
    "Your organisation's sign-in does not answer. Try again in a moment.",
    "조직의 로그인 서버가 답하지 않습니다. 잠시 뒤 다시 시도해 주세요.",
  ],
  "provider.refused.failed": [
    "Signing in there did not work. Try again; if it stays so, tell an administrator: the log of web says why.",
    "로그인하지 못했습니다. 다시 시도하고, 계속되면 관리자에게 알려 주세요. 이유는 web 로그에 있습니다.",
  ],
  "provider.refused.tooMany": [
    "Too many tries. Wait a quarter of an hour.",
    "시도가 너무 많습니다. 15분 뒤 다시 시도해 주세요.",
  ],
} satisfies Catalogue;

/** The sentence of a key. */
export const say = sayOf(words, languageNow);
