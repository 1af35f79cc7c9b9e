// What the contracts in config/ name of the platform, as bare shapes: a core can mention them and do nothing with them.

declare namespace NodeJS {
  type Signals = string;
}

interface AbortSignal {
  readonly aborted: boolean;
  readonly reason: unknown;
}

declare module "node:path" {
  export const posix: {
    normalize(path: string): string;
    dirname(path: string): string;
    isAbsolute(path: string): boolean;
    join(...parts: string[]): string;
  };
}
