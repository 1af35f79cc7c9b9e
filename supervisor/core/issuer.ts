// What an identity provider says of itself, against what signing in through it needs. Pure.

/** Why nobody could sign in through it; null: nothing says so. */
export function issuerProblem(issuer: string, text: string): string | null {
  let said: Readonly<Record<string, unknown>>;
  try {
    said = JSON.parse(text) as typeof said;
  } catch {
    return "it answers no JSON";
  }
  if (typeof said !== "object" || said === null) return "it answers no JSON object";
  if (said.issuer !== issuer) return `it calls itself ${String(said.issuer)}: write that as auth.oidc.issuer`;
  const missing = ["authorization_endpoint", "token_endpoint", "jwks_uri"].find((key) => typeof said[key] !== "string");
  if (missing !== undefined) return `it names no ${missing}`;
  const methods = said.code_challenge_methods_supported;
  return Array.isArray(methods) && !methods.includes("S256") ? "it does not take PKCE with S256" : null;
}
