// Why owld refuses a release, and the way on. Pure.

import type { Catalogue } from "../../../config/text.ts";

const FREE_SPACE = [
  "Free some space (`owlctl preflight` says how much is needed) and run the update again.",
  "공간을 비우고(얼마나 필요한지는 `owlctl preflight`가 알려 줍니다) 업데이트를 다시 실행하십시오.",
] as const;

const UNSIGNED_NEXT = [
  "Give the archive as it was built with `npm run release -- --sign KEYFILE`, with its .minisig; or, if you know who built it, `owlctl update --allow-unsigned`.",
  "`npm run release -- --sign KEYFILE`로 만든 아카이브와 .minisig를 함께 주십시오. 누가 만들었는지 안다면 `owlctl update --allow-unsigned`를 쓰십시오.",
] as const;

export const releaseWords = {
  badKeys: (path: string) => ({
    sentence: [`${path} holds no release key.`, `${path}에 릴리스 키가 없습니다.`],
    next: [
      "Put the public key there (its line begins with RW), or remove the file.",
      "공개 키(RW로 시작하는 줄)를 넣거나 파일을 지우십시오.",
    ],
  }),
  unsigned: (name: string, keys: string) => ({
    sentence: [
      `${name} is not signed: there is no ${name}.minisig beside it. Known keys here: ${keys}.`,
      `${name}에 서명이 없습니다. 옆에 ${name}.minisig이(가) 없습니다. 여기서 아는 키: ${keys}.`,
    ],
    next: UNSIGNED_NEXT,
  }),
  otherKey: (name: string, by: string, keys: string) => ({
    sentence: [
      `${name} is signed by the key ${by}, which is not known here. Known keys here: ${keys}.`,
      `${name}은(는) 여기서 모르는 키 ${by}(으)로 서명되었습니다. 여기서 아는 키: ${keys}.`,
    ],
    next: [
      "Update first to the release that brings this key, or put the key into OWL_HOME/release.pub.",
      "먼저 이 키를 담은 릴리스로 업데이트하거나, 그 키를 OWL_HOME/release.pub에 넣으십시오.",
    ],
  }),
  unsignedFolder: (folder: string) => ({
    sentence: [
      `${folder} is a directory, which carries no signature.`,
      `${folder}은(는) 디렉터리라서 서명이 없습니다.`,
    ],
    next: UNSIGNED_NEXT,
  }),
  badSignature: (name: string) => ({
    sentence: [
      `The signature of ${name} does not fit: the archive or the signature was changed, or one of them is of another release.`,
      `${name}의 서명이 맞지 않습니다. 아카이브나 서명이 바뀌었거나 둘 중 하나가 다른 릴리스의 것입니다.`,
    ],
    next: ["Copy both of them again from where they were built.", "만든 곳에서 두 파일을 다시 복사하십시오."],
  }),
  notStaged: (version: string) => ({
    sentence: [
      `Release ${version} is not staged here any more.`,
      `릴리스 ${version}은(는) 이제 여기에 준비되어 있지 않습니다.`,
    ],
    next: ["Stage it again: owlctl update --stage ARCHIVE", "다시 준비: owlctl update --stage ARCHIVE"],
  }),
  noManifest: (version: string) => ({
    sentence: [`${version} has no manifest.`, `${version}에 매니페스트가 없습니다.`],
    next: ["Stage it again.", "다시 준비하십시오."],
  }),
  platform: (version: string, platform: string, here: string) => ({
    sentence: [
      `Release ${version} is for ${platform}; this machine is ${here}.`,
      `릴리스 ${version}은(는) ${platform}용인데 이 기계는 ${here}입니다.`,
    ],
    next: [`Build it on ${here} with \`npm run release\`.`, `${here}에서 만드십시오: \`npm run release\``],
  }),
  configuration: (version: string, words: string) => ({
    sentence: [
      `Release ${version} does not accept the configuration: ${words}`,
      `릴리스 ${version}이(가) 설정을 받아들이지 않습니다: ${words}`,
    ],
    next: [
      "Correct owl.yaml first, or stay with the present release.",
      "먼저 owl.yaml을 고치거나 지금 릴리스를 그대로 쓰십시오.",
    ],
  }),
  owld: (version: string, words: string) => ({
    sentence: [
      `owld of release ${version} does not start: ${words}`,
      `릴리스 ${version}의 owld가 시작되지 않습니다: ${words}`,
    ],
    next: [
      "Build the release again with `npm run release`, or stay with the present one.",
      "`npm run release`로 릴리스를 다시 만들거나 지금 릴리스를 그대로 쓰십시오.",
    ],
  }),
  preflight: (version: string, words: string) => ({
    sentence: [
      `The preflight of release ${version} did not run: ${words}`,
      `릴리스 ${version}의 사전 점검이 실행되지 않았습니다: ${words}`,
    ],
    next: [
      "Build the release again with `npm run release`, or stay with the present one.",
      "`npm run release`로 릴리스를 다시 만들거나 지금 릴리스를 그대로 쓰십시오.",
    ],
  }),
  diskFullStaging: () => ({
    sentence: ["The disk is full while staging the release.", "릴리스를 준비하는 중에 디스크가 찼습니다."],
    next: FREE_SPACE,
  }),
  diskFullUnpacking: () => ({
    sentence: ["The disk is full while unpacking the release.", "릴리스를 푸는 중에 디스크가 찼습니다."],
    next: FREE_SPACE,
  }),
  unreadable: (source: string, why: string) => ({
    sentence: [`${source} cannot be read: ${why}.`, `${source}을(를) 읽을 수 없습니다: ${why}.`],
    next: [
      "Give the path of an archive or a directory made by `npm run release`.",
      "`npm run release`로 만든 아카이브나 디렉터리의 경로를 주십시오.",
    ],
  }),
  notCopied: (path: string, source: string, why: string) => ({
    sentence: [
      `${path} cannot be copied from ${source}: ${why}.`,
      `${source}에서 ${path}을(를) 복사할 수 없습니다: ${why}.`,
    ],
    next: [
      `Nothing was changed. Build the release again with \`npm run release\`.`,
      `아무것도 바꾸지 않았습니다. \`npm run release\`로 릴리스를 다시 만드십시오.`,
    ],
  }),
  exists: (version: string) => ({
    sentence: [
      `Another release ${version} is here already.`,
      `내용이 다른 릴리스 ${version}이(가) 이미 여기에 있습니다.`,
    ],
    next: [
      "Give the new one another version, or remove the old one when nothing runs from it.",
      "새 릴리스에 다른 버전을 주거나, 옛것에서 아무것도 실행되지 않을 때 지우십시오.",
    ],
  }),
  missing: (dir: string, file: string) => ({
    sentence: [`${dir} has no ${file}.`, `${dir}에 ${file}이(가) 없습니다.`],
    next: [
      "Give an archive or a directory made by `npm run release`.",
      "`npm run release`로 만든 아카이브나 디렉터리를 주십시오.",
    ],
  }),
  changed: (path: string, how: "link" | "notListed" | "differs" | "missing") => ({
    sentence: [
      `${path} ${
        {
          link: "is a link its manifest does not list",
          notListed: "is not listed in its manifest",
          differs: "differs from its manifest",
          missing: "is missing",
        }[how]
      }.`,
      {
        link: `${path}은(는) 매니페스트에 없는 링크입니다.`,
        notListed: `${path}은(는) 매니페스트에 없습니다.`,
        differs: `${path}이(가) 매니페스트와 다릅니다.`,
        missing: `${path}이(가) 빠져 있습니다.`,
      }[how],
    ],
    next: [
      `Nothing was changed. Copy the release again, or build it again with \`npm run release\`.`,
      `아무것도 바꾸지 않았습니다. 릴리스를 다시 복사하거나 \`npm run release\`로 다시 만드십시오.`,
    ],
  }),
  archiveUnreadable: (archive: string, why: string) => ({
    sentence: [`The archive ${archive} cannot be read: ${why}.`, `아카이브 ${archive}을(를) 읽을 수 없습니다: ${why}.`],
    next: ["Check the path and its permissions.", "경로와 권한을 확인하십시오."],
  }),
  archive: (what: string) => ({
    sentence: [`The archive is refused: ${what}.`, `아카이브를 받아들일 수 없습니다: ${what}.`],
    next: [
      `Nothing was changed. Build it again with \`npm run release\`, or copy it again.`,
      `아무것도 바꾸지 않았습니다. \`npm run release\`로 다시 만들거나 다시 복사하십시오.`,
    ],
  }),
  firstEntry: (name: string, manifest: string) => [
    `its first entry is ${JSON.stringify(name)}, not ${manifest}`,
    `첫 항목이 ${manifest}이(가) 아니라 ${JSON.stringify(name)}임`,
  ],
  empty: ["it is empty", "비어 있음"],
  holds: (name: string, why: string) => [
    `it holds ${JSON.stringify(name)}, ${why}`,
    `${JSON.stringify(name)} 항목: ${why}`,
  ],
  links: (name: string, to: string | undefined | null, why: string) => [
    `it links ${JSON.stringify(name)} to ${JSON.stringify(to)}, ${why}`,
    `${JSON.stringify(name)}이(가) ${JSON.stringify(to)}(으)로 링크됨: ${why}`,
  ],
  unlistedLink: (name: string) => [
    `it holds the link ${JSON.stringify(name)} that its manifest does not list`,
    `링크 ${JSON.stringify(name)}이(가) 매니페스트에 없음`,
  ],
  unlisted: ["which its manifest does not list", "매니페스트에 없음"],
  size: (name: string, bytes: number | undefined, listed: number) => [
    `${JSON.stringify(name)} has ${bytes} bytes, its manifest says ${listed}`,
    `${JSON.stringify(name)}은(는) ${bytes}바이트인데 매니페스트에는 ${listed}바이트임`,
  ],
  largeManifest: ["its manifest is larger than 64 MiB", "매니페스트가 64 MiB보다 큼"],
  damaged: (why: string) => [`it is truncated or damaged (${why})`, `잘렸거나 손상됨(${why})`],
  noRelease: (what: string) => ({
    sentence: [`This is no release: ${what}.`, `릴리스가 아닙니다: ${what}.`],
    next: [
      "Build it again with `npm run release`, or copy it again.",
      "`npm run release`로 다시 만들거나 다시 복사하십시오.",
    ],
  }),
  newerFormat: (format: number, own: number) => ({
    sentence: [
      `manifest.json has format ${format}; this Owl reads format ${own}.`,
      `manifest.json의 형식은 ${format}인데 이 Owl은 형식 ${own}을(를) 읽습니다.`,
    ],
    next: [
      "Update to a release in between first, or build the archive with this version.",
      "먼저 중간 릴리스로 업데이트하거나, 이 버전으로 아카이브를 만드십시오.",
    ],
  }),
  notJson: ["manifest.json is not JSON", "manifest.json이 JSON이 아님"],
  notManifest: (place: string, why: string | undefined) => [
    `manifest.json, ${place || "(whole)"}: ${why ?? "is not a manifest"}`,
    `manifest.json, ${place || "(전체)"}: ${why ?? "매니페스트가 아님"}`,
  ],
  names: (path: string, why: string) => [
    `manifest.json names ${JSON.stringify(path)}, ${why}`,
    `manifest.json에 적힌 ${JSON.stringify(path)}: ${why}`,
  ],
  manifestLinks: (path: string, to: string, why: string) => [
    `manifest.json links ${JSON.stringify(path)} to ${JSON.stringify(to)}, ${why}`,
    `manifest.json에서 ${JSON.stringify(path)}이(가) ${JSON.stringify(to)}(으)로 링크됨: ${why}`,
  ],
  fileAndLink: (path: string) => [
    `manifest.json names ${JSON.stringify(path)} both as file and as link`,
    `manifest.json에 ${JSON.stringify(path)}이(가) 파일과 링크로 함께 적혀 있음`,
  ],
  badPath: {
    length: ["whose length is not allowed", "길이가 허용되지 않음"],
    absolute: ["which is absolute", "절대 경로임"],
    control: ["which holds a control character or a backslash", "제어 문자나 백슬래시가 들어 있음"],
    notPlain: ["which is not a plain relative path", "단순한 상대 경로가 아님"],
    manifest: ["which is the manifest itself", "매니페스트 자신임"],
    notRelative: ["which is not a relative path", "상대 경로가 아님"],
    out: ["which points out of the release", "릴리스 밖을 가리킴"],
    behindLink: ["which lies behind a link", "링크 뒤에 있음"],
  },
} satisfies Catalogue;
