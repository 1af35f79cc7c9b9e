// `owlctl completion bash|zsh|fish`: a completion script made from the commands themselves, so that it never lags behind.

import { type Command, InvalidArgumentError } from "commander";
import type { CommandDeps } from "../deps.ts";
import { bashScript, fishScript, type WordTree, zshScript } from "../render/completion-scripts.ts";

const SCRIPTS = { bash: bashScript, zsh: zshScript, fish: fishScript } as const;
type Shell = keyof typeof SCRIPTS;

export function register(program: Command, deps: CommandDeps): void {
  const { text } = deps;
  program
    .command("completion")
    .description(text.commands.completion.about)
    .argument("<shell>", "bash | zsh | fish", (value): Shell => {
      if (value in SCRIPTS) return value as Shell;
      throw new InvalidArgumentError(text.errors.shell(value));
    })
    .addHelpText(
      "after",
      text.examples([
        "source <(owlctl completion bash)",
        "owlctl completion zsh > ~/.zfunc/_owlctl",
        "owlctl completion fish > ~/.config/fish/completions/owlctl.fish",
      ]),
    )
    .action(
      deps.run(async (shell: Shell) => {
        const { Command: Fresh } = await import("commander");
        const all = new Fresh("owlctl").option("--socket <path>", text.help.socket);
        await deps.registerAll(all);
        deps.terminal.out(SCRIPTS[shell](treeOf(all)));
        return undefined;
      }),
    );
}

function treeOf(command: Command): WordTree {
  return {
    name: command.name(),
    about: command.description(),
    options: command.options.flatMap((option) =>
      [option.long, option.short].filter((one) => one !== undefined && one !== null),
    ),
    takesTarget: command.registeredArguments.some((argument) =>
      ["target", "service", "instance", "service=n"].includes(argument.name()),
    ),
    children: command.commands.map(treeOf),
  };
}
