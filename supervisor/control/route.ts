// What a route of the control API is: a method and a path, what it takes, what it answers. Tables of them are served by
// server.ts and described by openapi.ts.

import type { z } from "zod";
import type { Text } from "../core/text/text.ts";
import type { Control } from "./control.ts";

interface RouteInput {
  readonly control: Control;
  /** Path parameters, decoded. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: unknown;
  readonly body: unknown;
  /** What is said is said in the caller's language. */
  readonly text: Text;
  /** Aborts when the client leaves or the server stops. */
  readonly signal: AbortSignal;
}

type Answer =
  | { readonly kind: "json"; readonly status: number; readonly body: unknown }
  | { readonly kind: "lines"; readonly lines: AsyncIterable<unknown> };

export interface Route {
  readonly method: "GET" | "POST" | "DELETE";
  /** `:name` holds one segment. */
  readonly path: string;
  /** operationId of the OpenAPI document. */
  readonly id: string;
  readonly summary: string;
  readonly query?: z.ZodObject;
  readonly body?: z.ZodType;
  readonly answer: {
    readonly status: number;
    readonly name: string;
    readonly shape: z.ZodType;
    /** One JSON object a line. */
    readonly lines?: boolean;
  };
  readonly run: (input: RouteInput) => Promise<Answer>;
}

export const json = (status: number, body: unknown): Answer => ({ kind: "json", status, body });
export const lines = (source: AsyncIterable<unknown>): Answer => ({ kind: "lines", lines: source });
export const param = (input: RouteInput, name: string): string => input.params[name] ?? "";
