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

/**
 * End of support of CRI-O by minor version. It is that of the Kubernetes version with the same number (CRI-O's README); those up
 * to 1.31 are from data/releases/eol.yaml of kubernetes/website, later ones are the announced ends.
 */
const CRIO: Readonly<Record<string, string>> = {
  '1.26': '2024-02-28',
  '1.27': '2024-07-16',
  '1.28': '2024-10-22',
  '1.29': '2025-02-28',
  '1.30': '2025-07-15',
  '1.31': '2025-11-11',
  '1.32': '2026-02-28',
  '1.33': '2026-06-28',
  '1.34': '2026-10-27',
  '1.35': '2027-02-28',
};

const SUPPORT: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  containerd: CONTAINERD,
  'cri-o': CRIO,
};

/** Returns the day on which support of a version of a runtime ends; undefined if it is not known. */
export function supportOf(name: string, version: string): string | undefined {
  const minor = /^v?(\d+\.\d+)\./.exec(version)?.[1];
  return minor === undefined ? undefined : SUPPORT[name]?.[minor];
}
