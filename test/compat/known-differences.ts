/** Command lines whose results differ from crictl's, by a pattern of their titles, with the reason. */
const KNOWN: readonly (readonly [title: RegExp, reason: string])[] = [
  [/-r unix:\/\/\/nowhere\/cri\.sock stop$/, 'rejects the command line before connecting'],
  [/completion (zsh|fish)$/, "contains kcri's descriptions of commands and flags"],
];

/** Returns why kcri's result for a command line differs from crictl's, or undefined if it must be equal. */
export function knownDifference(title: string): string | undefined {
  return KNOWN.find(([pattern]) => pattern.test(title))?.[1];
}
