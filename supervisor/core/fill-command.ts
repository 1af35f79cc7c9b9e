// argv with its placeholders filled in. Pure. Invariant: only {port}, {socket}, {instance} and {home} are touched.

import { invariant } from "../../config/errors.ts";

interface CommandValues {
  readonly port: number | null;
  readonly socket: string | null;
  readonly instance: string;
  readonly home: string;
}

/** The command to run; a placeholder without a value stays as it is. */
export function fillCommand(command: readonly string[], values: CommandValues): readonly [string, ...string[]] {
  const fill = (text: string): string =>
    text.replace(/\{(port|socket|instance|home)\}/g, (whole, name: keyof CommandValues) =>
      String(values[name] ?? whole),
    );
  const [program, ...rest] = command.map(fill);
  invariant(program !== undefined, "a configured command is not empty");
  return [program, ...rest];
}
