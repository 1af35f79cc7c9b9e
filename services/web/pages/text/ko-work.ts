// Korean text of the work pages.

export const koWork = {} as const;
