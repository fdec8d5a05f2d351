/**
 * End of support of runtimes by minor version, from containerd's RELEASES.md as of August 2026. Versions whose end is
 * announced as a month end on its last day.
 */
const CONTAINERD: Readonly<Record<string, string>> = {
  '1.4': '2022-03-03',
  '1.5': '2023-02-28',
  '1.6': '2025-08-23',
  '1.7': '2026-09-30',
  '2.0': '2027-03-31',
  '2.1': '2026-07-03',
  '2.2': '2026-11-06',
  '2.3': '2028-04-30',
};

/** Returns the day on which support of a version of a runtime ends; undefined if it is not known. */
export function supportOf(name: string, version: string): string | undefined {
  const minor = /^v?(\d+\.\d+)\./.exec(version)?.[1];
  return name === 'containerd' && minor !== undefined ? CONTAINERD[minor] : undefined;
}
