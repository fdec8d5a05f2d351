import {stringOrEmpty} from './canonical-json.js';
import type {CanonicalCall} from './comparable-call.js';

/** Commands of probes by container name. */
export type ProbeCommands = ReadonlyMap<string, readonly (readonly string[])[]>;

/**
 * Returns the calls with each distinct call of a probe once, after the start of its container, since their number
 * depends on time. Those during the stop of the container are omitted.
 */
export function deduplicateProbeCalls(
  calls: readonly CanonicalCall[],
  commands: ProbeCommands,
): readonly CanonicalCall[] {
  const probes = new Map<string, Map<string, CanonicalCall>>();
  const stopping = new Set<string>();
  const others = calls.filter((call) => {
    const id = stringOrEmpty(call.req['container_id']);
    if (call.method === 'StopContainer') stopping.add(id);
    if (!isProbe(call, commands)) return true;
    const known = probes.get(id) ?? new Map<string, CanonicalCall>();
    const line = {...call, probe: true, resp: call.resp ?? {}};
    if (!stopping.has(id) && !known.has(JSON.stringify(line))) known.set(JSON.stringify(line), line);
    probes.set(id, known);
    return false;
  });
  return others.flatMap((call) => {
    const id = stringOrEmpty(call.req['container_id']);
    return call.method === 'StartContainer' ? [call, ...(probes.get(id)?.values() ?? [])] : [call];
  });
}

function isProbe({method, req}: CanonicalCall, commands: ProbeCommands): boolean {
  const [, name = ''] = /^<C:[^/]*\/([^/]*)\//.exec(stringOrEmpty(req['container_id'])) ?? [];
  const command = JSON.stringify(req['cmd']);
  return (
    method === 'ExecSync' && (commands.get(name) ?? []).some((probe) => JSON.stringify(probe) === command)
  );
}
