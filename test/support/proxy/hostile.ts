// Messages that two parsers could read in two ways, or that are plainly broken: the publicly known classes.

export interface HostileRequest {
  readonly name: string;
  readonly bytes: string;
  /** Statuses that are right; `none`: it may wait for more (and is cut by the head timeout), never forwarded. */
  readonly status: readonly number[];
}

const rest = "GET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n";
const head = (line: string, ...headers: string[]) => `${[line, ...headers].join("\r\n")}\r\n\r\n`;

export const HOSTILE_REQUESTS: readonly HostileRequest[] = [
  [
    "CL.TE",
    `${head("POST / HTTP/1.1", "Host: x", "Content-Length: 5", "Transfer-Encoding: chunked")}0\r\n\r\n${rest}`,
    400,
  ],
  [
    "TE.CL",
    `${head("POST / HTTP/1.1", "Host: x", "Transfer-Encoding: chunked", "Content-Length: 4")}0\r\n\r\n${rest}`,
    400,
  ],
  [
    "TE.TE in two headers",
    head("POST / HTTP/1.1", "Host: x", "Transfer-Encoding: chunked", "Transfer-Encoding: identity") + rest,
    400,
    501,
  ],
  ["TE twice chunked", head("POST / HTTP/1.1", "Host: x", "Transfer-Encoding: chunked, chunked") + rest, 400, 501],
  ["TE gzip, chunked", head("POST / HTTP/1.1", "Host: x", "Transfer-Encoding: gzip, chunked") + rest, 400, 501],
  ["TE chunked, identity", head("POST / HTTP/1.1", "Host: x", "Transfer-Encoding: chunked, identity") + rest, 400, 501],
  ["TE xchunked", head("POST / HTTP/1.1", "Host: x", "Transfer-Encoding: xchunked") + rest, 400, 501],
  ["TE quoted", head("POST / HTTP/1.1", "Host: x", 'Transfer-Encoding: "chunked"') + rest, 400, 501],
  ["TE with a vertical tab", head("POST / HTTP/1.1", "Host: x", "Transfer-Encoding: \x0bchunked") + rest, 400, 501],
  ["TE in HTTP/1.0", `${head("POST / HTTP/1.0", "Host: x", "Transfer-Encoding: chunked")}0\r\n\r\n${rest}`, 400],
  ["space before the colon", head("POST / HTTP/1.1", "Host: x", "Transfer-Encoding : chunked") + rest, 400],
  ["space before a name", head("POST / HTTP/1.1", "Host: x", " Transfer-Encoding: chunked") + rest, 400],
  ["two equal lengths", head("POST / HTTP/1.1", "Host: x", "Content-Length: 0", "Content-Length: 0") + rest, 400],
  [
    "two different lengths",
    head("POST / HTTP/1.1", "Host: x", "Content-Length: 0", `Content-Length: ${rest.length}`) + rest,
    400,
  ],
  ["a list of lengths", head("POST / HTTP/1.1", "Host: x", "Content-Length: 0, 0") + rest, 400],
  ["a signed length", head("POST / HTTP/1.1", "Host: x", "Content-Length: +5") + rest, 400],
  ["a negative length", head("POST / HTTP/1.1", "Host: x", "Content-Length: -1") + rest, 400],
  ["a hexadecimal length", head("POST / HTTP/1.1", "Host: x", "Content-Length: 0x5") + rest, 400],
  ["an empty length", head("POST / HTTP/1.1", "Host: x", "Content-Length: ") + rest, 400],
  ["an oversize length", head("POST / HTTP/1.1", "Host: x", "Content-Length: 99999999999999999999999") + rest, 400],
  ["a folded header", head("POST / HTTP/1.1", "Host: x", "Transfer-Encoding:\r\n chunked") + rest, 400],
  ["a folded value", head("GET / HTTP/1.1", "Host: x", "A: b\r\n\tc") + rest, 400],
  ["bare LF", `GET / HTTP/1.1\nHost: x\n\n${rest}`, 400],
  ["bare LF after a header", `GET / HTTP/1.1\r\nHost: x\nA: b\r\n\r\n${rest}`, 400],
  ["bare LF at the head's end", `GET / HTTP/1.1\r\nHost: x\r\n\n${rest}`, 400],
  ["bare CR in a value", head("GET / HTTP/1.1", "Host: x", "A: b\rContent-Length: 5") + rest, 400],
  ["NUL in a value", head("GET / HTTP/1.1", "Host: x", "A: b\0c") + rest, 400],
  ["NUL in the target", head("GET /\0 HTTP/1.1", "Host: x") + rest, 400],
  ["a name with a control character", head("GET / HTTP/1.1", "Host: x", "A\x01: b") + rest, 400],
  ["no colon", head("GET / HTTP/1.1", "Host: x", "Abc") + rest, 400],
  ["an empty name", head("GET / HTTP/1.1", "Host: x", ": b") + rest, 400],
  ["no Host", head("GET / HTTP/1.1", "A: b") + rest, 400],
  ["two Hosts", head("GET / HTTP/1.1", "Host: x", "Host: y") + rest, 400],
  ["two equal Hosts", head("GET / HTTP/1.1", "Host: x", "Host: x") + rest, 400],
  ["a Host with a path", head("GET / HTTP/1.1", "Host: x/y") + rest, 400],
  ["a Host with a user", head("GET / HTTP/1.1", "Host: a@x") + rest, 400],
  ["a Host with a list", head("GET / HTTP/1.1", "Host: x, y") + rest, 400],
  ["absolute form and another Host", head("GET http://y/ HTTP/1.1", "Host: x") + rest, 400],
  ["absolute form with a user", head("GET http://u@x/ HTTP/1.1", "Host: x") + rest, 400],
  ["a strange scheme", head("GET ftp://x/ HTTP/1.1", "Host: x") + rest, 400],
  ["a fragment", head("GET /a#b HTTP/1.1", "Host: x") + rest, 400],
  ["a target without a slash", head("GET a HTTP/1.1", "Host: x") + rest, 400],
  ["* without OPTIONS", head("GET * HTTP/1.1", "Host: x") + rest, 400],
  ["an unknown method", head("SMUGGLE / HTTP/1.1", "Host: x") + rest, 400, 501],
  ["HTTP/2.0", head("GET / HTTP/2.0", "Host: x") + rest, 400, 505],
  ["HTTP/1.2", head("GET / HTTP/1.2", "Host: x") + rest, 400, 505],
  ["HTTP/0.9", `GET /\r\n${rest}`, 400],
  ["the HTTP/2 preface", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400, 505],
  ["a TLS hello", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 400],
  ["spaces in the target", head("GET /a b HTTP/1.1", "Host: x") + rest, 400],
  ["a tab after the method", head("GET\t/ HTTP/1.1", "Host: x") + rest, 400],
  [
    "an upgrade with a body",
    `${head("POST / HTTP/1.1", "Host: x", "Connection: upgrade", "Upgrade: websocket", "Content-Length: 3")}abc${rest}`,
    400,
  ],
  [
    "a chunked upgrade",
    head("POST / HTTP/1.1", "Host: x", "Connection: upgrade", "Upgrade: h2c", "Transfer-Encoding: chunked") +
      "0\r\n\r\n" +
      rest,
    400,
  ],
].map(([name, bytes, ...status]) => ({ name: String(name), bytes: String(bytes), status: status.map(Number) }));

const chunked = (body: string) => head("POST / HTTP/1.1", "Host: x", "Transfer-Encoding: chunked") + body + rest;

/** The head is fine and may be forwarded; the body is broken, so what follows is never taken for a request. */
export const HOSTILE_BODIES: readonly { readonly name: string; readonly bytes: string }[] = [
  ["a chunk size with 0x", chunked("0x3\r\nabc\r\n0\r\n\r\n")],
  ["a signed chunk size", chunked("+3\r\nabc\r\n0\r\n\r\n")],
  ["a negative chunk size", chunked("-3\r\nabc\r\n0\r\n\r\n")],
  ["an oversize chunk size", chunked("FFFFFFFFFFFFFFFFF\r\nabc\r\n0\r\n\r\n")],
  ["a chunk size with spaces", chunked("3 \r\nabc\r\n0\r\n\r\n")],
  ["a chunk longer than its size", chunked("3\r\nabcd\r\n0\r\n\r\n")],
  ["a chunk with bare LF", chunked("3\nabc\n0\n\n")],
  ["an empty chunk size", chunked("\r\nabc\r\n0\r\n\r\n")],
  ["a bare CR in an extension", chunked("3;a\rb\r\nabc\r\n0\r\n\r\n")],
  ["a bare LF in an extension", chunked("3;a\nb\r\nabc\r\n0\r\n\r\n")],
  ["a folded trailer", chunked("3\r\nabc\r\n0\r\nA: b\r\n c\r\n\r\n")],
].map(([name, bytes]) => ({ name: String(name), bytes: String(bytes) }));

/** Answers no client may get as they are: it gets 502, or a connection that ends short. */
export const HOSTILE_ANSWERS: readonly { readonly name: string; readonly bytes: string }[] = [
  ["both length and chunked", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"],
  ["two lengths", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nabc"],
  ["a strange coding", "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\nabc"],
  ["a signed length", "HTTP/1.1 200 OK\r\nContent-Length: +2\r\n\r\nab"],
  ["a folded header", "HTTP/1.1 200 OK\r\nA: b\r\n c\r\nContent-Length: 2\r\n\r\nab"],
  ["a bare CR in a value", "HTTP/1.1 200 OK\r\nA: b\rSet-Cookie: c\r\nContent-Length: 2\r\n\r\nab"],
  ["bare LF", "HTTP/1.1 200 OK\nContent-Length: 2\n\nab"],
  ["no status", "HTTP/1.1 OK\r\n\r\n"],
  ["not HTTP", "220 mail.example ESMTP\r\n"],
  ["a space before the colon", "HTTP/1.1 200 OK\r\nContent-Length : 2\r\n\r\nab"],
  ["NUL in a value", "HTTP/1.1 200 OK\r\nA: b\0c\r\nContent-Length: 2\r\n\r\nab"],
  ["a name with a control character", "HTTP/1.1 200 OK\r\nA\x01: b\r\nContent-Length: 2\r\n\r\nab"],
  ["a list of lengths", "HTTP/1.1 200 OK\r\nContent-Length: 2, 2\r\n\r\nab"],
  ["a negative length", "HTTP/1.1 200 OK\r\nContent-Length: -2\r\n\r\nab"],
  ["an oversize length", "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999999\r\n\r\nab"],
  [
    "chunked in two headers",
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
  ],
  ["gzip, chunked", "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n"],
  ["bare LF at the head's end", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\nab"],
  ["another version", "HTTP/3.0 200 OK\r\nContent-Length: 2\r\n\r\nab"],
  ["NUL in the reason", "HTTP/1.1 200 O\0K\r\nContent-Length: 2\r\n\r\nab"],
  ["a status of 000", "HTTP/1.1 000 OK\r\nContent-Length: 2\r\n\r\nab"],
  ["101 unasked", "HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\nabc"],
].map(([name, bytes]) => ({ name: String(name), bytes: String(bytes) }));

const chunkedAnswer = (body: string) => `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${body}`;

/** The head is fine and may be passed on; the body is broken: the client's connection ends short of a whole answer. */
export const HOSTILE_ANSWER_BODIES: readonly { readonly name: string; readonly bytes: string }[] = [
  ["a chunk size with 0x", "0x3\r\nabc\r\n0\r\n\r\n"],
  ["a signed chunk size", "+3\r\nabc\r\n0\r\n\r\n"],
  ["a negative chunk size", "-3\r\nabc\r\n0\r\n\r\n"],
  ["an oversize chunk size", "FFFFFFFFFFFFFFFFF\r\nabc\r\n0\r\n\r\n"],
  ["a chunk size with spaces", "3 \r\nabc\r\n0\r\n\r\n"],
  ["a chunk longer than its size", "3\r\nabcd\r\n0\r\n\r\n"],
  ["a chunk with bare LF", "3\nabc\n0\n\n"],
  ["an empty chunk size", "\r\nabc\r\n0\r\n\r\n"],
  ["a bare CR in an extension", "3;a\rb\r\nabc\r\n0\r\n\r\n"],
  ["a folded trailer", "3\r\nabc\r\n0\r\nA: b\r\n c\r\n\r\n"],
].map(([name, body]) => ({ name: String(name), bytes: chunkedAnswer(String(body)) }));
