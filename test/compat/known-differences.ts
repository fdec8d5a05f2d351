/** Command lines that kcri does not answer as crictl does, by the pattern of their titles, and why. */
const KNOWN: readonly (readonly [title: RegExp, reason: string])[] = [
  [/-r unix:\/\/\/nowhere\/cri\.sock stop$/, 'finds fault with the command line before it connects'],
  [/enum-name\.json|text-number\.json/, 'takes what crictl refuses: names of enums, and numbers in quotes'],
  [/(bad|broken)\.yaml|bad\.json/, 'has the words of another YAML parser'],
  [/completion (zsh|fish)$/, "describes commands and flags in kcri's words, as its help does"],
];

/** Why kcri's answer to a command line differs from crictl's; undefined when it must not. */
export function knownDifference(title: string): string | undefined {
  return KNOWN.find(([pattern]) => pattern.test(title))?.[1];
}
