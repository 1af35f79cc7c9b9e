// What owld tells of the certificate that its proxies serve by.

/** The next order of a certificate at its authority. */
export interface CertificateRenewal {
  readonly domains: readonly string[];
  /** ISO; now while an order is under way. */
  readonly nextAt: string;
  /** In a row. */
  readonly failures: number;
  /** Of the last failure. */
  readonly why: string | null;
}

export interface CertificateStatus {
  /** ISO; null: there is none that could be used. */
  readonly until: string | null;
  /** Self-made, until the authority's first one is there. */
  readonly standIn: boolean;
  /** null: one of one's own. */
  readonly renewal: CertificateRenewal | null;
}
