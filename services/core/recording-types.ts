// Which media types are recordings: audio, video, and containers that hold them under another name. Pure.

const CONTAINERS = new Set([
  "application/ogg",
  "application/vnd.ms-asf",
  "application/mxf",
  "application/vnd.rn-realmedia",
]);

export const isRecordingType = (mediaType: string): boolean =>
  /^(audio|video)\//.test(mediaType) || CONTAINERS.has(mediaType);
