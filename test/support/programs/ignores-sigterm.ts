// Says when it is up, and ignores SIGTERM.

process.on("SIGTERM", () => console.log("not now"));
setInterval(() => undefined, 60_000);
console.log("up");
