// What the application records for its users. turn.cut and turn.unclaimed are agreed word for word.

import type { Catalogue, With } from "../../config/text.ts";

export const words = {
  "turn.cut": [
    "The server's work was interrupted, so this could not be answered. Please try again in a moment.",
    "서버 작업이 중단되어 답변하지 못했습니다. 잠시 후 다시 시도해주세요.",
  ],
  "turn.unclaimed": [
    "The server did not get to this request in time, so it could not be answered. Please try again in a moment.",
    "서버가 요청을 제때 받지 못해 답변하지 못했습니다. 잠시 후 다시 시도해주세요.",
  ],
  "turn.limit": (v: With<"minutes">) => [
    `The answer took longer than the limit of ${v.minutes} minutes and was ended. Split the question and try again.`,
    `답변이 제한 시간(${v.minutes}분)을 넘겨 중단했습니다. 질문을 나누어 다시 시도해주세요.`,
  ],
  "asked.approval": (v: With<"tool">) => [
    `A call of “${v.tool}” waits until you allow or refuse it.`,
    `“${v.tool}” 호출이 허용 또는 거부를 기다리고 있습니다.`,
  ],
  "asked.outcome": (v: With<"tool">) => [
    `It is not known whether “${v.tool}” took effect; your decision is awaited.`,
    `“${v.tool}” 호출이 처리되었는지 알 수 없어 결정을 기다리고 있습니다.`,
  ],
  "asked.open": (v: With<"place">) => [
    `You find it in Owl under ${v.place}`,
    `Owl의 ${v.place} 에서 확인할 수 있습니다.`,
  ],
  "turn.error": [
    "Something went wrong while answering. Please try again.",
    "답변 중 오류가 발생했습니다. 다시 시도해주세요.",
  ],
  "transcription.lost": [
    "The worker was lost several times while transcribing this recording. Check the file, then retry.",
    "이 녹음을 처리하던 작업이 여러 번 중단되었습니다. 파일을 확인한 뒤 다시 시도해주세요.",
  ],
  "playbook.lost": [
    "The worker was lost during this run. Finished steps are kept; look at the unknown step before running it again.",
    "실행 중 작업이 중단되었습니다. 끝난 단계는 보존됩니다. 결과를 알 수 없는 단계를 확인한 뒤 다시 실행해주세요.",
  ],
  "schemaAnalysis.lost": [
    "The worker was lost during this analysis. Please analyse again.",
    "분석 중 작업이 중단되었습니다. 다시 분석해주세요.",
  ],
  "job.error": (v: With<"reason">) => [`Something went wrong: ${v.reason}`, `오류가 발생했습니다: ${v.reason}`],
  "transcription.noEngine": (v: With<"reason" | "command">) => [
    `No text could be made: ${v.reason} Install a recogniser: ${v.command}`,
    `받아쓰기를 할 수 없습니다: ${v.reason} 인식기를 설치하세요: ${v.command}`,
  ],
  "transcription.noFfmpeg": [
    "This file needs ffmpeg to be read. Install it: sudo apt-get install ffmpeg",
    "이 파일을 읽으려면 ffmpeg가 필요합니다. 설치하세요: sudo apt-get install ffmpeg",
  ],
  "transcription.notRecording": ["This file is not an audio or video recording.", "오디오나 동영상 파일이 아닙니다."],
  "transcription.silent": ["This file holds no sound.", "이 파일에는 소리가 없습니다."],
  "transcription.missing": [
    "The file is no longer there or cannot be read.",
    "파일이 더 이상 없거나 읽을 수 없습니다.",
  ],
  "transcription.broken": (v: With<"reason">) => [
    `The recording is damaged: ${v.reason}`,
    `녹음 파일이 손상되었습니다: ${v.reason}`,
  ],
  "transcription.outside": [
    "The file no longer lies inside an archive folder.",
    "파일이 더 이상 보관 폴더 안에 있지 않습니다.",
  ],
  "transcription.engine": (v: With<"reason">) => [
    `The speech recogniser failed: ${v.reason}`,
    `음성 인식기가 실패했습니다: ${v.reason}`,
  ],
  "playbook.cut": (v: With<"step">) => [
    `The run was cut off at step ${v.step}. Finished steps are kept; look at what that step did, then run it again.`,
    `${v.step} 단계에서 실행이 중단되었습니다. 끝난 단계는 보존됩니다. 그 단계의 결과를 확인한 뒤 다시 실행해주세요.`,
  ],
  "playbook.stepFailed": (v: With<"step" | "reason">) => [
    `Step ${v.step} failed: ${v.reason}`,
    `${v.step} 단계가 실패했습니다: ${v.reason}`,
  ],
  "playbook.unknown": (v: With<"step" | "reason">) => [
    `Step ${v.step} was begun and its outcome is unknown: ${v.reason} Look at what it did before running again.`,
    `${v.step} 단계를 시작했으나 결과를 알 수 없습니다: ${v.reason} 결과를 확인한 뒤 다시 실행해주세요.`,
  ],
  "schemaAnalysis.failed": (v: With<"reason">) => [
    `The analysis failed: ${v.reason}`,
    `분석이 실패했습니다: ${v.reason}`,
  ],
  "export.question": ["Question", "질문"],
  "export.answer": ["Answer", "답변"],
  "export.tool": ["Tool", "도구"],
  "export.attached": ["Attached files", "첨부 파일"],
  "export.queued": ["Not answered yet.", "아직 답변하지 않았습니다."],
  "export.running": ["Still being answered.", "답변을 작성하는 중입니다."],
  "export.waiting": ["Waiting for a decision.", "결정을 기다리는 중입니다."],
  "export.stopped": ["Stopped.", "중지했습니다."],
  "export.failed": ["Not answered.", "답변하지 못했습니다."],
  "model.title": [
    "Name this conversation in its own language, in at most six words. Answer with the name alone: no quotes, no full stop.",
    "이 대화의 이름을 대화와 같은 언어로 여섯 단어 이내로 지어주세요. 따옴표나 마침표 없이 이름만 답하세요.",
  ],
  "model.instructions": (v: With<"sources">) => [
    `You answer questions about a team's data. Data sources: ${v.sources}. Look at the tables before you write SQL; use the tools rather than guess; show the SQL you used. Answer in the language of the question.`,
    `You answer questions about a team's data. Data sources: ${v.sources}. Look at the tables before you write SQL; use the tools rather than guess; show the SQL you used. Answer in the language of the question, in Korean when in doubt.`,
  ],
  "builtIn.fileImage": ["an image; no model here looks at it", "이미지 (볼 수 있는 모델이 없습니다)"],
  "attachment.cut": [
    "(cut: the document goes on; only its beginning was read)",
    "(여기까지: 문서가 길어 앞부분만 읽었습니다)",
  ],
  "model.assistant": (v: With<"name">) => [`You are the assistant “${v.name}”.`, `You are the assistant “${v.name}”.`],
  "model.key": (v: With<"status">) => [
    `The model endpoint refused our key (status ${v.status}). An administrator must check model.apiKey.`,
    `모델 서버가 인증 키를 거부했습니다(상태 ${v.status}). 관리자가 model.apiKey를 확인해야 합니다.`,
  ],
  "model.busy": [
    "The model endpoint is busy (too many requests). Please try again in a moment.",
    "모델 서버가 혼잡합니다(요청 과다). 잠시 후 다시 시도해주세요.",
  ],
  "model.away": [
    "The model endpoint could not be reached. Please try again in a moment.",
    "모델 서버에 연결할 수 없습니다. 잠시 후 다시 시도해주세요.",
  ],
  "model.status": (v: With<"status">) => [
    `The model endpoint failed (status ${v.status}). Please try again in a moment.`,
    `모델 서버에서 오류가 발생했습니다(상태 ${v.status}). 잠시 후 다시 시도해주세요.`,
  ],
  "model.garbage": [
    "The model endpoint's answer broke off or could not be understood. Please try again.",
    "모델 서버의 응답이 끊기거나 해석할 수 없었습니다. 다시 시도해주세요.",
  ],
  "model.silent": [
    "The model endpoint sent nothing for a minute, so the answer was ended. Please try again.",
    "모델 서버가 1분 동안 아무것도 보내지 않아 답변을 끝냈습니다. 다시 시도해주세요.",
  ],
  "model.empty": [
    "The model ended without an answer. Ask again, or put the question in other words.",
    "모델이 답변 없이 끝냈습니다. 다시 질문하거나 질문을 바꾸어 보세요.",
  ],
  "model.noAnswer": (v: With<"steps">) => [
    `The model used its tools ${v.steps} times and came to no answer. Split the question into smaller ones.`,
    `모델이 도구를 ${v.steps}번 사용하고도 답을 내지 못했습니다. 질문을 더 작게 나누어 주세요.`,
  ],
  "model.lengthCut": [
    "The answer was cut off here by the model's length limit. Write “continue” and it goes on.",
    "모델의 길이 제한 때문에 답변이 여기서 끊겼습니다. “계속”이라고 쓰면 이어서 답합니다.",
  ],
  "model.lengthEmpty": [
    "The model reached its length limit before it came to an answer. Ask for less at once, or have an administrator raise the endpoint's limit.",
    "모델이 답변에 이르기 전에 길이 제한에 닿았습니다. 질문을 줄이거나, 관리자가 모델 서버의 제한을 늘려야 합니다.",
  ],
  "model.filtered": [
    "The model's content filter ended the answer here.",
    "모델의 콘텐츠 필터가 답변을 여기서 끝냈습니다.",
  ],
  "model.filteredEmpty": [
    "The model's content filter refused to answer this. Put the question in other words.",
    "모델의 콘텐츠 필터가 답변을 거부했습니다. 질문을 바꾸어 보세요.",
  ],
  "model.linesLost": (v: With<"lines">) => [
    `Parts of the model's answer that could not be read were left out: ${v.lines}. Words may be missing.`,
    `모델의 답변 가운데 읽을 수 없는 부분(${v.lines}개)을 건너뛰었습니다. 빠진 말이 있을 수 있습니다.`,
  ],
  "model.shortened": [
    "The conversation is longer than the model can take: it was answered without most of the earlier turns and from the beginnings of files and results only.",
    "대화가 모델이 받을 수 있는 길이를 넘어, 이전 대화 대부분을 빼고 파일과 결과의 앞부분만으로 답했습니다.",
  ],
  "model.tooLong": [
    "The question with its files and results is longer than the model can take. Ask with less text, fewer files or fewer rows.",
    "질문과 파일, 조회 결과가 모델이 받을 수 있는 길이를 넘습니다. 글, 파일, 행 수를 줄여 질문해주세요.",
  ],
  "model.lastStep": [
    "Answer now from what you have found; no more tools can be called. Say what is missing.",
    "지금까지 찾은 것으로 답하세요. 도구는 더 쓸 수 없습니다. 부족한 것이 있으면 밝히세요.",
  ],
  "builtIn.name": [
    "**Built-in responder** (no model endpoint is configured)",
    "**내장 응답기** (모델이 설정되지 않았습니다)",
  ],
  "builtIn.assistant": (v: With<"name">) => [
    `Assistant: ${v.name}. I answer by rules and do not follow its instructions.`,
    `어시스턴트: ${v.name}. 규칙으로 답하므로 지침은 반영하지 않습니다.`,
  ],
  "builtIn.refused": (v: With<"reason">) => [`That did not work: ${v.reason}`, `처리하지 못했습니다: ${v.reason}`],
  "builtIn.nothingFound": (v: With<"words">) => [
    `No transcript holds "${v.words}".`,
    `“${v.words}”이(가) 들어 있는 녹취가 없습니다.`,
  ],
  "builtIn.rows": (v: With<"rows">) => [`Rows: ${v.rows}.`, `행: ${v.rows}개.`],
  "builtIn.cut": (v: With<"rows">) => [
    `Only the first ${v.rows} rows are shown: the result is longer.`,
    `결과가 길어 처음 ${v.rows}개 행만 보여드립니다.`,
  ],
  "builtIn.fileBytes": (v: With<"bytes">) => [`${v.bytes} bytes`, `${v.bytes}바이트`],
  "builtIn.fileTable": (v: With<"rows" | "columns">) => [
    `rows: ${v.rows}, columns: ${v.columns}`,
    `${v.rows}행 ${v.columns}열`,
  ],
  "builtIn.fileLines": (v: With<"lines">) => [`lines: ${v.lines}`, `${v.lines}줄`],
  "builtIn.fileFirstRows": (v: With<"rows">) => [
    `Only the first ${v.rows} rows are shown.`,
    `처음 ${v.rows}행만 보여드립니다.`,
  ],
  "builtIn.fileFirstColumns": (v: With<"columns">) => [
    `Only the first ${v.columns} columns are shown.`,
    `처음 ${v.columns}열만 보여드립니다.`,
  ],
  "builtIn.fileFirstLines": (v: With<"lines">) => [
    `Only the first ${v.lines} lines are shown.`,
    `처음 ${v.lines}줄만 보여드립니다.`,
  ],
  "builtIn.fileCut": (v: With<"characters" | "all">) => [
    `Only the first ${v.characters} of its ${v.all} characters were read; the figures are those of that part.`,
    `전체 ${v.all}자 가운데 처음 ${v.characters}자만 읽었으며, 위 수치는 읽은 부분의 것입니다.`,
  ],
  "builtIn.fileOnly": [
    "This is what can be read off the files by rules. To ask freely about them, an administrator sets `model:` in owl.yaml.",
    "규칙으로 파일에서 읽을 수 있는 내용입니다. 파일에 대해 자유롭게 질문하려면 관리자가 owl.yaml의 `model:`을 설정하면 됩니다.",
  ],
  "builtIn.help": (v: With<"sources">) => [
    `I answer by rules, with real tools:\n\n- SQL: \`SELECT 6 * 7 AS answer\`\n- tables: \`list the tables\`\n- a table's columns: \`describe orders\`\n- a table's rows: \`count orders\`\n- transcripts: \`search budget\`\n\nData sources: ${v.sources}. For free questions an administrator sets \`model:\` in owl.yaml.`,
    `규칙으로 답하며, 도구는 실제로 사용합니다.\n\n- SQL: \`SELECT 6 * 7 AS answer\`\n- 테이블 목록: \`테이블 보여줘\`\n- 테이블 구조: \`orders 구조\`\n- 테이블 건수: \`orders 몇 건\`\n- 녹취 검색: \`예산 검색\`\n\n데이터 소스: ${v.sources}. 자유로운 질문은 관리자가 owl.yaml의 \`model:\`을 설정하면 됩니다.`,
  ],
  "schemaAnalysis.byRules": (v: With<"tables">) => [
    `The model's answer could not be used for ${v.tables} of the tables; they are described by rules.`,
    `모델의 응답을 쓸 수 없어 테이블 ${v.tables}개는 규칙으로 설명했습니다.`,
  ],
} satisfies Catalogue;
