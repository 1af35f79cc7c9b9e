// A program of its own: orders one certificate and ends, so that what an ACME client needs in memory is needed for that
// long only. Reads its request from standard input, writes JSON lines to standard output.
// Invariant: one name is proved at a time, so a DNS command never has two records of one name; a record it added is
// removed again, whatever came of it. owld gone (standard input closed) is the end.

import { execFile } from "node:child_process";
import { generateKeyPairSync } from "node:crypto";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import acme, { type Authorization, type Client, type Order } from "acme-client";
import { asError } from "../../../config/errors.ts";
import type { Challenge } from "../../../config/proxy-feed.ts";
import { type FromOrder, KEY_KIND, type OrderRequest, type ToOrder } from "./order.ts";

const HTTP_TIMEOUT_MS = 30_000;
/** It may wait until the record is seen by all. */
const DNS_COMMAND_MS = 300_000;
const LOOK_MS = 1_000;
const LONGEST_LOOK_MS = 10_000;
const LOOKS = 30;

const run = promisify(execFile);
const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();

async function heard(): Promise<ToOrder> {
  const { value, done } = await lines.next();
  if (done === true) process.exit(0);
  return JSON.parse(value) as ToOrder;
}

function tell(message: FromOrder): void {
  process.stdout.write(`${JSON.stringify(message)}\n`);
}

async function show(challenges: readonly Challenge[]): Promise<void> {
  tell({ type: "challenges", challenges });
  await heard();
}

async function certificateFor(request: OrderRequest): Promise<string> {
  const key = generateKeyPairSync(...KEY_KIND).privateKey.export({ type: "pkcs8", format: "pem" });
  const { domains } = request;
  acme.axios.defaults.timeout = HTTP_TIMEOUT_MS;
  // They would send a broken request again under its used nonce, and what broke it would be told no more. Trying again
  // is owld's part.
  acme.axios.interceptors.request.clear();
  acme.axios.interceptors.response.clear();
  const client = new acme.Client({
    directoryUrl: request.directory,
    accountKey: request.accountKey,
    backoffAttempts: LOOKS,
    backoffMin: LOOK_MS,
    backoffMax: LONGEST_LOOK_MS,
  });
  await client.createAccount({ termsOfServiceAgreed: true, contact: [`mailto:${request.email}`] });
  const order = await client.createOrder({ identifiers: domains.map((value) => ({ type: "dns", value })) });
  for (const one of await client.getAuthorizations(order))
    if (one.status !== "valid") await prove(client, one, request);
  const [, csr] = await acme.crypto.createCsr({ altNames: [...domains] }, key);
  const finalized: Order = await client.finalizeOrder(order, csr);
  return `${(await client.getCertificate(finalized)).trimEnd()}\n${key}`;
}

async function prove(client: Client, authorization: Authorization, request: OrderRequest): Promise<void> {
  const { value } = authorization.identifier;
  const type = request.dnsCommand === null ? request.by : "dns-01";
  const challenge = authorization.challenges.find((one) => one.type === type);
  if (challenge === undefined) throw new Error(`${value}: the authority does not offer ${type}`);
  const answer = await client.getChallengeKeyAuthorization(challenge);
  const prove = async (): Promise<void> => {
    await client.completeChallenge(challenge);
    // The challenge first: it is what says in a sentence why it failed.
    const seen = client.waitForValidStatus(challenge).then(() => client.waitForValidStatus(authorization));
    await seen.catch((error: unknown) => {
      throw new Error(`${value} (${type}): ${asError(error).message}`);
    });
  };
  if (request.dnsCommand !== null)
    return await proveByDns(request.dnsCommand, `_acme-challenge.${value}`, answer, prove);
  if (type === "http-01") await show([{ kind: "http", token: challenge.token, answer }]);
  else {
    const [key, cert] = await acme.crypto.createAlpnCertificate(authorization, answer);
    await show([{ kind: "alpn", host: value, pem: `${cert}\n${key}` }]);
  }
  await prove();
}

async function proveByDns(
  [program = "", ...args]: readonly string[],
  record: string,
  answer: string,
  prove: () => Promise<void>,
): Promise<void> {
  const call = (action: "add" | "remove") =>
    run(program, [...args, action, record, answer], { timeout: DNS_COMMAND_MS }).catch((error: unknown) => {
      const { stderr = "", message } = asError(error) as Error & { stderr?: string };
      throw new Error(`${program} ${action} ${record}: ${stderr.trim().split("\n").at(-1) || message}`);
    });
  await call("add");
  try {
    await prove();
  } finally {
    await call("remove");
  }
}

const asked = await heard();
if (asked.type !== "order") throw new Error("the first line is the order");
try {
  tell({ type: "certificate", pem: await certificateFor(asked.request) });
} catch (error) {
  const { message, code = "" } = asError(error) as NodeJS.ErrnoException;
  tell({ type: "failed", why: message || code });
}
process.exit(0);
