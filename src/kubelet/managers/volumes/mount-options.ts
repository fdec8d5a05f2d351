/** Returns the options without duplicates, sorted (JoinMountOptions). */
export function joinMountOptions(
  userOptions: readonly string[],
  systemOptions: readonly string[],
): readonly string[] {
  const all = [...userOptions.filter((option) => option !== ''), ...systemOptions];
  return [...new Set(all)].toSorted();
}
