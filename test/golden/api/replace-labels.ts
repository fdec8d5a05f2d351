const TIME = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)/g;
const UUID = /\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g;

/** A pod of a run. */
export interface NamedPod {
  readonly name: string;
  readonly uid: string;
}

/** Returns labels of pods by UID: the name without the node's, with `#2` for the second pod of that name. */
export function uidLabels(
  pods: readonly NamedPod[],
  nodeName: string,
): readonly (readonly [string, string])[] {
  const labels = new Map<string, string>();
  const counts = new Map<string, number>();
  for (const {name, uid} of pods) {
    if (labels.has(uid)) continue;
    const short = name.endsWith(`-${nodeName}`) ? name.slice(0, -nodeName.length - 1) : name;
    const count = (counts.get(short) ?? 0) + 1;
    counts.set(short, count);
    labels.set(uid, count === 1 ? `<UID:${short}>` : `<UID:${short}#${count}>`);
  }
  return [...labels];
}

/** Returns a function that replaces what differs from run to run, as in the recordings. */
export function createReplacer(
  labels: readonly (readonly [text: string, label: string])[],
): (text: string) => string {
  return (text) =>
    labels
      .reduce((current, [from, to]) => current.replaceAll(from, to), text)
      .replace(/ in \S+ \(\S+ including waiting\)/g, ' in <DUR> (<DUR> including waiting)')
      .replace(/kube-api-access-[a-z0-9]{5}\b/g, 'kube-api-access-<RAND>')
      .replace(/\bcsr-[a-z0-9]{5}\b/g, 'csr-<RAND>')
      .replace(/X509SHA256=[0-9a-f]{64}/g, 'X509SHA256=<ID>')
      .replace(TIME, '<TIME>')
      .replace(UUID, '<UUID>');
}
