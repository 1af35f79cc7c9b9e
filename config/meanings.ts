// What each key of owl.yaml is for, and what holds without it: the descriptions of the JSON Schema.
// Invariant: defaults are said from DEFAULTS, never written down a second time.

import { DEFAULTS } from "./defaults.ts";
import { formatDuration, formatSize } from "./units.ts";

type Meaning = readonly [what: string, default_?: string | number | boolean];

const d = formatDuration;
const b = formatSize;
const kept = (ms: number): string => `${ms / 86_400_000}d`;
const { proxy, limits, turn, retention, rollout, worse, heartbeat, health, schedule, accountLimits, concurrency } =
  DEFAULTS;

export const MEANINGS: Readonly<Record<string, Meaning>> = {
  proxy: ["The HTTP proxy before all services."],
  "proxy.listen": [
    "Where clients connect. OWL_PORT changes the port only.",
    `${DEFAULTS.listen.host}:${DEFAULTS.listen.port}`,
  ],
  "proxy.processes": ["Proxy processes that share the listening sockets.", proxy.processes],
  "proxy.connectTimeout": [
    "So long connecting to an instance may take before another one is tried.",
    d(proxy.connectTimeoutMs),
  ],
  "proxy.queueTimeout": [
    "So long a request waits for an instance to be ready before it is answered with 503.",
    d(proxy.queueTimeoutMs),
  ],
  "proxy.drainTimeout": [
    "So long requests in flight may take when an instance or a proxy is replaced.",
    d(proxy.drainTimeoutMs),
  ],
  "proxy.tls": [
    "HTTPS. The files are read again when they change; one that does not fit never replaces one that works.",
    "none",
  ],
  "proxy.tls.cert": ["The certificate and its chain, PEM; relative to owl.yaml."],
  "proxy.tls.key": ["The certificate's key, PEM."],
  "proxy.tls.redirectFrom": ["A plain HTTP address from where clients are sent to HTTPS.", "none"],
  "proxy.tls.hsts": ["Browsers keep to HTTPS for so long; 0s: not told.", `${proxy.hstsMaxAgeS}s`],
  "proxy.tls.http2": ["Browsers that know HTTP/2 get it; WebSockets stay on HTTP/1.1.", proxy.http2],
  "proxy.limits": ["What one client may ask for."],
  "proxy.limits.header": ["Largest head of a request.", b(limits.headerBytes)],
  "proxy.limits.headerTimeout": ["So long a request's head may take to arrive.", d(limits.headerTimeoutMs)],
  "proxy.limits.idleTimeout": ["So long a connection may stay open without a request.", d(limits.idleTimeoutMs)],
  "proxy.limits.connections": ["Clients of one proxy process at a time; more are answered 503.", limits.connections],
  "proxy.limits.body": ["Largest body of a request.", b(limits.bodyBytes)],
  "proxy.limits.upload": ["Largest body of an upload of the bundled application.", b(limits.uploadBytes)],
  "proxy.limits.bodyRate": [
    "A body that comes slower than this a second is ended; 0B: none is.",
    b(limits.bodyBytesPerS),
  ],
  "proxy.metrics": ["A loopback address for Prometheus. The control socket has them always.", "none"],
  "proxy.trust": ["Networks of proxies before this one whose X-Forwarded-* headers count.", "none"],
  "proxy.accessLog": ["A line for each request in the proxy's log.", false],
  "proxy.compress": [
    "Answers that a service left uncompressed go out as zstd, br or gzip, as the browser takes it; pages that show a secret beside a stranger's text are better without it (BREACH).",
    false,
  ],
  database: ["The bundled application's own PostgreSQL server; without it Owl manages one."],
  "database.url": ["Its URL: postgres://USER:PASSWORD@HOST/NAME."],
  postgres: ["The PostgreSQL that Owl manages when there is no database.url."],
  "postgres.maxConnections": ["Connections it grants.", DEFAULTS.postgres.maxConnections],
  "postgres.settings": ["Further settings of postgresql.conf."],
  "postgres.binaries": [
    "Directory of its programs; auto: the system's, else those of the npm package.",
    DEFAULTS.postgres.binaries,
  ],
  stop: ["How processes end."],
  "stop.grace": ["From SIGTERM to SIGKILL.", d(DEFAULTS.graceMs)],
  turn: ["How long a turn of a conversation may take."],
  "turn.finish": ["So long a turn may go on when its worker is told to stop.", d(turn.finishMs)],
  "turn.wrapUp": ["Then so long to end with what it has. finish + wrapUp must be below the grace.", d(turn.wrapUpMs)],
  "turn.claim": ["So long a turn waits for a worker before it is closed with a message.", d(turn.claimMs)],
  "turn.limit": ["The longest that a turn may run at all.", d(turn.limitMs)],
  retention: ["How long what is stored is kept."],
  "retention.conversations": ["Conversations nobody wrote to.", kept(retention.conversationsMs)],
  "retention.events": ["Events of ended turns.", kept(retention.eventsMs)],
  "retention.transcriptions": ["Transcripts.", kept(retention.transcriptionsMs)],
  "retention.batches": ["Batches that ended.", kept(retention.batchesMs)],
  "retention.runs": ["Runs of playbooks.", kept(retention.runsMs)],
  "retention.analyses": ["Schema analyses.", kept(retention.analysesMs)],
  "retention.uploads": ["Uploaded recordings.", kept(retention.uploadsMs)],
  "retention.audit": ["The audit record.", kept(retention.auditMs)],
  "retention.rollouts": ["So many rollouts stay on record.", retention.rollouts],
  rollout: ["How running processes are replaced."],
  "rollout.healthTimeout": [
    "A new instance must be ready within this, or the old ones stay.",
    d(rollout.healthTimeoutMs),
  ],
  "rollout.surge": ["Instances above replicas at a time; auto: as connections and memory allow.", rollout.surge],
  "rollout.confirm": [
    "What changed must stand so long before the old instances end.",
    `${d(rollout.confirmMs)}, ${d(rollout.updateConfirmMs)} in an update`,
  ],
  "rollout.worse": ["From when on new instances count as worse than the old ones, which then come back."],
  "rollout.worse.errors": ["So much larger a share of 5xx answers.", `${worse.errorShare * 100}%`],
  "rollout.worse.p95": ["So many times the old 95th percentile of answer times.", `${worse.p95Factor}x`],
  logs: ["What is kept of what an instance prints."],
  "logs.size": ["A file that grows beyond is rotated.", b(DEFAULTS.logs.sizeBytes)],
  "logs.count": ["So many files, the one written to among them.", DEFAULTS.logs.count],
  heartbeat: ["The bundled workers' sign of life."],
  "heartbeat.interval": ["How often it is given.", d(heartbeat.intervalMs)],
  "heartbeat.stalledAfter": ["Silent for so long, a worker hangs and is replaced.", d(heartbeat.stalledAfterMs)],
  web: ["The bundled application's web processes."],
  "web.replicas": ["How many run. OWLAI_BACKEND_REPLICAS overrides it.", DEFAULTS.replicas],
  "web.pool": ["Database connections of each.", DEFAULTS.pool],
  "web.memory.limit": ["One that uses more is replaced, new first.", "none"],
  worker: ["The bundled application's workers."],
  "worker.replicas": ["How many run. OWLAI_WORKER_REPLICAS overrides it.", DEFAULTS.replicas],
  "worker.pool": ["Database connections of each.", DEFAULTS.pool],
  "worker.memory.limit": ["One that uses more is replaced, new first.", "none"],
  "worker.concurrency": ["Jobs of a kind that one worker runs at a time."],
  "worker.concurrency.chat": ["Turns.", concurrency.chat],
  "worker.concurrency.transcription": ["Transcriptions.", concurrency.transcription],
  "worker.concurrency.playbook": ["Runs of playbooks.", concurrency.playbook],
  "worker.concurrency.schema-analysis": ["Schema analyses.", concurrency["schema-analysis"]],
  "worker.accountShare": [
    "Of a worker's places for a kind, what one account may hold at a time; 1: all.",
    DEFAULTS.accountShare,
  ],
  services: ["Your own programs by name; they replace the bundled application.", "the bundled application"],
  "services.*.command": [
    "What is started, as a list, without a shell. {port}, {socket}, {instance} and {home} are filled in. Left out: it has files alone.",
  ],
  "services.*.cwd": ["Where it is started; relative to owl.yaml.", "the directory of owl.yaml"],
  "services.*.env": [
    "Its environment. ${NAME} is filled in from owld's, file:/PATH is read, {value: TEXT} stays as it is.",
  ],
  "services.*.envFile": ["Files of KEY=VALUE lines; env counts before them."],
  "services.*.user": [
    "The user it runs as; owld must be root or its systemd unit.",
    "owld's own, or OWL_SERVICES_USER",
  ],
  "services.*.umask": ["Which rights its new files do not get.", "owld's own"],
  "services.*.replicas": ["How many run.", 1],
  "services.*.listen": [
    "socket: a Unix socket at OWL_SOCKET; port: a loopback port in PORT; none: it takes no requests.",
    "socket",
  ],
  "services.*.routes": ["Which requests it gets; the most exact route wins.", "none"],
  "services.*.routes.*.host": ['A host name, "*.example.org" or "*".', "*"],
  "services.*.routes.*.path": ["The path and all below it.", "/"],
  "services.*.routes.*.body": ["Largest body of a request here.", "proxy.limits.body"],
  "services.*.routes.*.files": [
    "A directory that the proxy serves here by itself; relative to the source, or to the release that is in force.",
    "instances answer",
  ],
  "services.*.routes.*.cache": [
    "So long browsers keep a file unasked; pages (*.html) they always ask for.",
    "they ask",
  ],
  "services.*.health": ["When it is ready: one check.", "connecting works; with listen: none it has run for 2s"],
  "services.*.health.http": ["A path that answers 2xx."],
  "services.*.health.command": ["A command that ends with 0."],
  "services.*.health.uptime": ["It has run for so long.", d(health.uptimeMs)],
  "services.*.health.interval": ["How often it is checked once ready.", d(health.intervalMs)],
  "services.*.health.timeout": ["So long one check may take.", d(health.timeoutMs)],
  "services.*.stop": ["How its processes end."],
  "services.*.stop.grace": ["From the signal to SIGKILL.", "stop.grace"],
  "services.*.stop.signal": ["The signal that asks it to end.", "SIGTERM"],
  "services.*.stop.after": [
    "idle: the signal comes when no request is in flight; routed-out: at once when it gets no new ones.",
    "idle",
  ],
  "services.*.start.timeout": ["It must be ready within this after its start.", "rollout.healthTimeout"],
  "services.*.depends_on": ["Services of which one must be ready before the first of this one starts.", "none"],
  "services.*.schedule": ["It runs at these times, each time until it ends, instead of always.", "it always runs"],
  "services.*.schedule.cron": ["Minute, hour, day of month, month, day of week."],
  "services.*.schedule.zone": ["Whose clock; its changes are followed.", schedule.zone],
  "services.*.schedule.overlap": [
    "While the run before goes on: skip leaves a time out, queue runs once more after it.",
    schedule.overlap,
  ],
  "services.*.schedule.missed": [
    "Times when nothing could be started: skip leaves them out, once makes up for them by one run.",
    schedule.missed,
  ],
  "services.*.schedule.limit": ["A run that takes longer is ended.", d(schedule.limitMs)],
  "services.*.logs": ["What is kept of what an instance of it prints.", "logs"],
  "services.*.logs.size": ["A file that grows beyond is rotated.", "logs.size"],
  "services.*.logs.count": ["So many files, the one written to among them.", "logs.count"],
  "services.*.connections": [
    "Database connections one instance may open, for the sum that a rollout must fit into.",
    0,
  ],
  "services.*.memory.limit": ["An instance that uses more is replaced, new first.", "none"],
  model: ["The model that answers; without it the built-in responder does, by rules."],
  "model.baseUrl": ["Where its OpenAI-compatible API is."],
  "model.apiKey": ["Its key.", "none"],
  "model.name": ["Which model."],
  "model.price": ["What it costs: with it tokens are counted.", "none"],
  "model.price.input": ["Of a million tokens it is given."],
  "model.price.output": ["Of a million tokens it says."],
  models: ["Further models to choose from in a chat; without `model` the first one is the usual one.", "none"],
  "models.*.baseUrl": ["Where its OpenAI-compatible API is."],
  "models.*.apiKey": ["Its key.", "none"],
  "models.*.name": ["Which model; each has a name of its own."],
  "models.*.price": ["What it costs: with it tokens are counted.", "none"],
  "models.*.price.input": ["Of a million tokens it is given."],
  "models.*.price.output": ["Of a million tokens it says."],
  budget: ["What chats may cost, in the unit of the prices."],
  "budget.monthly": ["Of one account in a calendar month (UTC).", "no bound"],
  chat: ["What chats may do."],
  "chat.titles": ["What names a chat: its model, after the first answer, or its first question.", "model"],
  "chat.links": ["Whom a link may show a chat to: nobody, the team (signed in), or anyone who has it.", "team"],
  transcription: ["What turns recordings into text."],
  "transcription.engine": ["openai: an API; command: a program."],
  "transcription.command": ["The program; {file} is filled in."],
  "transcription.baseUrl": ["Where the API is."],
  "transcription.apiKey": ["Its key.", "none"],
  "transcription.model": ["Which model."],
  "transcription.onStop": [
    "A transcription whose worker is told to stop: handed back to another one, or finished first.",
  ],
  archive: ["Recordings that lie on this machine."],
  "archive.roots": ["The only folders a batch may read."],
  dataSources: ["Databases that people may ask about, by name."],
  "dataSources.*.url": ["A PostgreSQL URL, best of a user that may only read."],
  limits: ["What one account may do."],
  "limits.turns": ["Turns waiting or running.", accountLimits.turns],
  "limits.runs": ["Playbook runs and schema analyses in line.", accountLimits.runs],
  "limits.recordings": ["Recordings in line.", accountLimits.recordings],
  "limits.conversations": ["Conversations.", accountLimits.conversations],
  "limits.playbooks": ["Playbooks.", accountLimits.playbooks],
  "limits.uploads": ["Uploads under way.", accountLimits.uploads],
  "limits.uploadBytes": ["Bytes of uploads under way.", b(accountLimits.uploadBytes)],
  "limits.attachments": ["Files waiting to be sent with a question.", accountLimits.attachments],
  "limits.eventStreams": ["Open event streams.", accountLimits.eventStreams],
  "limits.storedBytes": ["Bytes stored.", b(accountLimits.storedBytes)],
  "limits.searches": ["Searches at a time.", accountLimits.searches],
  "limits.statements": ["SQL statements at a time.", accountLimits.statements],
  "limits.statementsPerMinute": ["SQL statements a minute.", accountLimits.statementsPerMinute],
  tools: ["What questions and playbooks may use."],
  "tools.http": ["The HTTP tool."],
  "tools.http.allow": ["What it may reach beside public addresses.", "none"],
  "tools.approval": ["Tools that are not called before their owner allows the call.", "none"],
  "tools.approvalOf": ["Whose calls of them: everyone's, or those of members only.", "everyone"],
  "tools.approvers": ["Who answers: the owner of the work, administrators too, or onlyAdministrators.", "owner"],
  notify: ["Whom owld tells by itself when something goes wrong, and when it is over."],
  "notify.mail": ["By mail, through mail.smtp."],
  "notify.mail.to": ["Whom."],
  "notify.webhook": ["By a POST of JSON."],
  "notify.webhook.url": ["Where to."],
  "notify.quiet": ["Hours in which only what takes pages down is told at once.", "none"],
  "notify.events": ["Of what.", "all"],
  mail: ["How mail is sent."],
  "mail.smtp": ["The server: smtp://USER:PASSWORD@HOST."],
  "mail.from": ["The sender.", DEFAULTS.mailFrom],
};

interface SchemaNode {
  description?: string;
  readonly properties?: Record<string, SchemaNode>;
  readonly additionalProperties?: SchemaNode | boolean;
  readonly items?: SchemaNode;
}

/** Puts what each key is for before what it takes. */
export function describeSchema(node: SchemaNode, path: readonly string[] = []): void {
  const [what, fallback] = MEANINGS[path.join(".")] ?? [];
  if (what !== undefined) {
    const takes = node.description === undefined ? "" : ` Takes ${node.description}.`;
    node.description = `${what}${takes}${fallback === undefined ? "" : ` Default: ${fallback}.`}`;
  }
  for (const [key, child] of Object.entries(node.properties ?? {})) describeSchema(child, [...path, key]);
  for (const child of [node.additionalProperties, node.items])
    if (typeof child === "object") describeSchema(child, [...path, "*"]);
}
