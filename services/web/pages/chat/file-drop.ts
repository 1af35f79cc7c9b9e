// Files dragged onto the chat, or pasted into it.

import { useState } from "preact/hooks";

/** What an element needs so that files may be dropped on it; `isOver` while they hang above. */
export function useFileDrop(onFiles: (files: FileList) => void) {
  const [isOver, setOver] = useState(false);
  return {
    isOver,
    drop: {
      onDragOver(event: DragEvent) {
        if (!event.dataTransfer?.types.includes("Files")) return;
        event.preventDefault();
        setOver(true);
      },
      onDragLeave(event: DragEvent) {
        const { currentTarget, relatedTarget } = event;
        // It also fires when the pointer moves onto something within.
        if (currentTarget instanceof Node && relatedTarget instanceof Node && currentTarget.contains(relatedTarget))
          return;
        setOver(false);
      },
      onDrop(event: DragEvent) {
        setOver(false);
        const files = event.dataTransfer?.files;
        if (!files || files.length === 0) return;
        event.preventDefault();
        onFiles(files);
      },
    },
  };
}

/** The files a paste brings. A spreadsheet's cells come with a picture of themselves: there the text is meant. */
export function pastedFiles(event: ClipboardEvent): FileList | null {
  const data = event.clipboardData;
  if (!data || data.files.length === 0 || data.types.includes("text/plain")) return null;
  return data.files;
}
