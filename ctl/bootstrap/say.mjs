// What the bootstrap says, in Korean or English by OWL_LANG and the locale. Progress on standard error, results on output.

const locale = process.env.OWL_LANG || process.env.LC_ALL || process.env.LC_MESSAGES || process.env.LANG || "en";
const korean = /^ko(?![a-z])/i.test(locale);
const pick = (ko, en) => (korean ? ko : en);

export const say = {
  progress: (line) => process.stderr.write(`owl: ${line}\n`),
  result: (line) => process.stdout.write(`${line}\n`),
  problem: (error) => {
    process.stderr.write(`owl: ${error.message}\n`);
    if (error.next) process.stderr.write(`     ${error.next}\n`);
  },
};

/** An error with the next step in a second sentence. */
export function failure(sentence, next) {
  return Object.assign(new Error(sentence), { next });
}

export const words = {
  installing: pick("패키지를 설치합니다(npm ci) …", "installing packages (npm ci) …"),
  installed: (s) => pick(`설치 완료(${s}초)`, `installed (${s} s)`),
  installFailed: pick("npm ci가 실패했습니다.", "npm ci failed."),
  installNext: pick(
    "위의 출력을 보고, 인터넷에 연결되어 있는지 확인한 뒤 다시 실행하세요.",
    "Read its output above, see that this machine is online, and run it again.",
  ),
  platform: (what) =>
    pick(`Owl은 x64와 arm64의 Linux에서 돕니다(여기는 ${what}).`, `Owl runs on Linux x64 and arm64 (this is ${what}).`),
  noRuntime: (path) => pick(`고정된 Node 실행기가 없습니다: ${path}`, `The pinned Node runtime is missing: ${path}`),
  noRuntimeNext: pick("node_modules를 지우고 다시 실행하세요.", "Remove node_modules and run it again."),
  noProgram: (path) => pick(`여기에는 ${path}이(가) 없습니다.`, `There is no ${path} here.`),
  noProgramNext: pick("저장소 전체를 clone한 곳에서 실행하세요.", "Run it in a whole clone of the repository."),
  starting: pick("owld를 시작합니다 …", "starting owld …"),
  killed: pick(
    "owld가 강제로 죽었습니다. 나머지는 모두 계속 돌고 있습니다. npm start로 다시 이어받으세요.",
    "owld was killed; everything else runs on. npm start takes it over again.",
  ),
  again: pick("owld가 새 코드로 다시 시작합니다 …", "owld starts again on the code of now …"),
  release: (version) =>
    pick(
      `업데이트된 릴리스 ${version}을(를) 실행합니다 (이 체크아웃을 실행하려면 OWL_RELEASE=checkout).`,
      `running release ${version}, which an update made current (OWL_RELEASE=checkout runs this checkout).`,
    ),
  database: pick("데이터베이스를 준비하고 있습니다 …", "preparing the database …"),
  services: (list) => pick(`서비스를 시작하고 있습니다: ${list}`, `starting services: ${list}`),
  ready: (url) => pick(`Owl이 준비되었습니다:  ${url}`, `Owl is ready:  ${url}`),
  degraded: (url, short, name) =>
    pick(
      `Owl이 ${url} 에서 접속을 받지만 다 올라오지 않았습니다: ${short}. 이유: npx owlctl why ${name}`,
      `Owl listens at ${url}, but not everything is up: ${short}. The reason: npx owlctl why ${name}`,
    ),
  account: (password) =>
    pick(
      `admin으로 로그인하세요. 일회용 비밀번호:  ${password}`,
      `Sign in as admin with the one-time password:  ${password}`,
    ),
  hints: pick("멈추기: Ctrl-C   살펴보기: npx owlctl status", "Stop: Ctrl-C   Look around: npx owlctl status"),
  stopping: pick(
    "순서대로 멈추고 있습니다. Ctrl-C를 한 번 더 누르면 모두 바로 죽입니다.",
    "stopping in order; another Ctrl-C kills everything at once.",
  ),
  killing: pick("두 번째 Ctrl-C: 모두 바로 죽입니다.", "second Ctrl-C: killing everything now."),
  changed: (file, what) => pick(`${file} 바뀜: ${what}`, `${file} changed: ${what}`),
};
