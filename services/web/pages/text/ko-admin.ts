// Korean text of the admin pages.

export const koAdmin = {} as const;
