// `auth` as every part reads it: how people sign in to the bundled application.

export interface AuthConfig {
  /** False: passwords are the administrators' way in alone. */
  readonly local: boolean;
  readonly oidc: OidcConfig | null;
}

export interface OidcConfig {
  /** Whom its tokens name as issuer, letter by letter. */
  readonly issuer: string;
  readonly clientId: string;
  /** null: a public client, whose proof is PKCE alone. */
  readonly clientSecret: string | null;
  /** Where browsers reach Owl, without a path; null: wherever they asked. */
  readonly url: string | null;
  readonly scopes: readonly string[];
  /** The claim that holds a person's groups. */
  readonly groups: string;
  /** Which groups make whom; `member` null: everybody. Without it groups decide nothing. */
  readonly roles: {
    readonly administrator: readonly string[];
    readonly member: readonly string[] | null;
  } | null;
  /** Mail domains, in lower case; null: any, and no address at all. */
  readonly domains: readonly string[] | null;
  /** Whoever comes for the first time gets an account. */
  readonly provision: boolean;
  /** Whoever comes for the first time gets the account that is called as their verified mail address. */
  readonly linkByEmail: boolean;
  /** What the button says; null: the usual words. */
  readonly button: string | null;
  /** So long a session holds before the provider is asked again. */
  readonly sessionMs: number;
}
