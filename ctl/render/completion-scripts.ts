// Completion scripts for bash, zsh and fish from a tree of commands. Names of services and instances come from the
// daemon at the moment of completing, bounded to a second and silent when there is none. Pure.

export interface WordTree {
  readonly name: string;
  readonly about: string;
  readonly options: readonly string[];
  /** Its arguments are services or instances. */
  readonly takesTarget: boolean;
  readonly children: readonly WordTree[];
}

/** Prints names of services and instances, one a line. */
const TARGETS = `timeout 1 owlctl status --json 2>/dev/null | grep -oE '"(name|id)":"[a-z][a-z0-9-]*"' | cut -d'"' -f4 | grep -v '^proxy-' | sort -u`;

export function bashScript(tree: WordTree): string {
  const cases = [
    `    "") words="${[...tree.children.map((one) => one.name), ...tree.options, "--help"].join(" ")}" ;;`,
    ...tree.children.flatMap((one) => [
      `    ${one.name}) words="${[...one.children.map((child) => child.name), ...one.options, "--help"].join(" ")}"${one.takesTarget ? ' ; words="$words $(_owlctl_targets)"' : ""} ;;`,
      ...one.children.map(
        (child) => `    "${one.name} ${child.name}") words="${[...child.options, "--help"].join(" ")}" ;;`,
      ),
    ]),
  ];
  return `# bash completion of owlctl; load it with: source <(owlctl completion bash)
_owlctl_targets() { ${TARGETS}; }
_owlctl() {
  local current="\${COMP_WORDS[COMP_CWORD]}" path="" word words=""
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$word" in -*) ;; *) case "$path" in ""|${parents(tree)}) path="\${path:+$path }$word" ;; esac ;; esac
  done
  case "$path" in
${cases.join("\n")}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _owlctl owlctl`;
}

export function zshScript(tree: WordTree): string {
  const quote = (text: string) => text.replaceAll("'", "'\\''").replaceAll(":", "\\:");
  const list = (children: readonly WordTree[]) => children.map((one) => `'${one.name}:${quote(one.about)}'`).join(" ");
  const cases = tree.children.map((one) => {
    const words =
      one.children.length > 0
        ? `(( CURRENT == 3 )) && { local -a sub=(${list(one.children)}); _describe command sub }`
        : ":";
    const targets = one.takesTarget ? '; compadd -- ${(f)"$(_owlctl_targets)"}' : "";
    return `    ${one.name}) ${words}; compadd -- ${[...new Set([...one.options, ...one.children.flatMap((child) => child.options), "--help"])].join(" ")}${targets} ;;`;
  });
  return `#compdef owlctl
_owlctl_targets() { ${TARGETS}; }
_owlctl() {
  if (( CURRENT == 2 )); then
    local -a commands=(${list(tree.children)})
    _describe command commands
    compadd -- ${[...tree.options, "--help"].join(" ")}
    return
  fi
  case "$words[2]" in
${cases.join("\n")}
  esac
}
if [ "$funcstack[1]" = "_owlctl" ]; then _owlctl "$@"; else compdef _owlctl owlctl; fi`;
}

export function fishScript(tree: WordTree): string {
  const quote = (text: string) => text.replaceAll("\\", "\\\\").replaceAll("'", "\\'");
  const flag = (option: string) => (option.startsWith("--") ? `-l ${option.slice(2)}` : `-s ${option.slice(1)}`);
  const lines = [
    "# fish completion of owlctl",
    `function __owlctl_targets; ${TARGETS}; end`,
    "complete -c owlctl -f",
    ...tree.options.map((option) => `complete -c owlctl ${flag(option)}`),
    ...tree.children.map(
      (one) => `complete -c owlctl -n __fish_use_subcommand -a ${one.name} -d '${quote(one.about)}'`,
    ),
  ];
  for (const one of tree.children) {
    const seen = `__fish_seen_subcommand_from ${one.name}`;
    for (const option of one.options) lines.push(`complete -c owlctl -n '${seen}' ${flag(option)}`);
    for (const child of one.children)
      lines.push(`complete -c owlctl -n '${seen}' -a ${child.name} -d '${quote(child.about)}'`);
    if (one.takesTarget) lines.push(`complete -c owlctl -n '${seen}' -a '(__owlctl_targets)'`);
  }
  return lines.join("\n");
}

/** Commands that have commands of their own, as a shell pattern. */
function parents(tree: WordTree): string {
  return (
    tree.children
      .filter((one) => one.children.length > 0)
      .map((one) => one.name)
      .join("|") || "_"
  );
}
