// What writes the text of a segment, and what it is asked. Invariant: it gives text or throws an OwlError whose sentence
// tells what to do; silence is the empty text.

export interface SegmentRequest {
  /** A WAV file, 16 kHz mono where it could be made so. */
  readonly file: string;
  readonly language: string | null;
  readonly durationMs: number;
  /** Ends the work. */
  readonly signal: AbortSignal;
  /** Aborted when waiting (for a busy endpoint) is no longer worth it. */
  readonly hurry: AbortSignal;
}

export interface Engine {
  readonly name: string;
  transcribe(request: SegmentRequest): Promise<string>;
}
