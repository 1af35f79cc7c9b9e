// English text of the admin pages.

export const enAdmin = {} as const;
