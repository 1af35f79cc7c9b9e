// English text of the work pages.

export const enWork = {} as const;
