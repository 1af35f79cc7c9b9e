// What the pages say of the second factor.

import type { Catalogue, With } from "../../../../config/text.ts";

export const factorWords = {
  "factor.title": ["Second factor", "2단계 인증"],
  "factor.off": [
    "Off: your password alone signs you in. With it, a code of an authenticator app is asked for as well.",
    "꺼짐: 비밀번호만으로 로그인합니다. 켜면 인증 앱의 코드도 함께 묻습니다.",
  ],
  "factor.on": ({ when, left }: With<"when" | "left">) => [
    `On since ${when}. Recovery codes left: ${left}.`,
    `${when}부터 켜짐. 남은 복구 코드: ${left}개.`,
  ],
  "factor.turnOn": ["Turn on", "켜기"],
  "factor.turnOff": ["Turn off", "끄기"],
  "factor.secret": [
    "Enter this secret in your authenticator app, or scan it, then type the code it shows.",
    "인증 앱에 이 비밀 키를 입력하거나 QR 코드를 찍은 뒤, 앱에 표시된 코드를 입력하세요.",
  ],
  "factor.open": ["Open in an app on this device", "이 기기의 앱에서 열기"],
  "factor.showQr": ["Show a QR code", "QR 코드 보기"],
  "factor.qr": ["QR code of the secret", "비밀 키의 QR 코드"],
  "factor.code": ["Code", "코드"],
  "factor.anyCode": ["Code of your app, or a recovery code", "앱의 코드 또는 복구 코드"],
  "factor.confirm": ["Confirm", "확인"],
  "factor.kept": ["I have kept them", "보관했습니다"],
  "factor.recovery": [
    "It is on. Keep these recovery codes where your phone is not: each signs you in once, and they are shown this once.",
    "켜졌습니다. 이 복구 코드를 휴대전화와 다른 곳에 보관하세요. 코드마다 한 번 로그인할 수 있고, 지금 한 번만 표시됩니다.",
  ],
  "factor.asked": ["Your account asks for a code as well.", "이 계정은 코드도 필요합니다."],
  "factor.wrong": [
    "This code is wrong, or was used already. Wait for the next one.",
    "코드가 틀렸거나 이미 쓴 코드입니다. 다음 코드를 기다려 주세요.",
  ],
} satisfies Catalogue;
