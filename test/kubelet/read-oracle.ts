import {readFileSync} from 'node:fs';
import {gunzipSync} from 'node:zlib';

/** Reads the cases of an oracle, `.jsonl.gz`: what the kubelet's own code computed, one case a line. */
export function readOracle(file: URL): readonly unknown[] {
  return gunzipSync(readFileSync(file))
    .toString()
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as unknown);
}
