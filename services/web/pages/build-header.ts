// How a server tells an open page which build of the pages it serves; a file of its own, for browser and server load it.

/** Header of the answer that opens an event stream. */
export const BUILD_HEADER = "owl-build";

/** The build that this page is of, as its shell says. */
export function ownBuild(): string {
  return document.querySelector<HTMLMetaElement>('meta[name="owl-build"]')?.content ?? "";
}
