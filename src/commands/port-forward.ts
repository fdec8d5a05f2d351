import {once} from 'node:events';
import * as Args from '@oclif/core/args';
import {SystemError, UsageError} from '../base/errors.js';
import {BaseCommand} from '../cli/base-command.js';
import {listFlag} from '../cli/flags.js';
import {STREAMING_FLAGS, tlsOptions, transportOf, type StreamingFlagValues} from '../cli/streaming-flags.js';
import {ArgumentsError} from '../cli/usage-errors.js';
import {
  CRICTL_WORDS,
  crictlNotListeningText,
  listeningLines,
  nothingBoundText,
  notListeningText,
  OWN_WORDS,
  type PortForwardWords,
} from '../cli/views/port-forward.js';
import type {PodSandboxId, RuntimeService} from '../cri/index.js';
import {resolveSandbox} from '../operations/resolve.js';
import {sandboxEnd, type SandboxEnd} from '../operations/sandbox-end.js';
import {withContext} from '../operations/with-context.js';
import {StreamingError} from '../streaming/errors.js';
import {addressGroups, type AddressGroup} from '../streaming/port-forward/addresses.js';
import type {BoundPort} from '../streaming/port-forward/listen.js';
import {openTunnel} from '../streaming/port-forward/open-tunnel.js';
import {PortForwarder} from '../streaming/port-forward/port-forwarder.js';
import {isPortFault, parsePortSpec, type PortSpec} from '../streaming/port-forward/port-spec.js';
import type {PortForwardUrl, Tunnel} from '../streaming/port-forward/tunnel.js';

export default class PortForward extends BaseCommand {
  static override summary = 'Forward local ports to a pod';
  static override description =
    'Connections to a local port are made again inside the pod, where the same or another port is listened to on ' +
    'localhost. A line on standard output says what is forwarded as soon as it is, and one more tells of each ' +
    'connection. It ends with Ctrl-C, or with the pod.\n\n' +
    'A connection that the pod refuses is reset and does not end the others; when the runtime is restarted, the next ' +
    'connection finds it again.';
  static override usage = 'port-forward [OPTIONS] POD [LOCAL:]REMOTE...';
  static override strict = false;
  static override args = {
    pod: Args.string({
      ignoreStdin: true,
      description: 'Id, beginning of an id, name, or NAMESPACE/NAME of a pod.',
    }),
    port: Args.string({
      ignoreStdin: true,
      multiple: true,
      description: 'Local port and port of the pod; without the local one, or with 0, any free one is taken.',
    }),
  };
  static override flags = {
    ...STREAMING_FLAGS,
    address: listFlag({
      helpValue: 'IP',
      description:
        'Local addresses to listen on, repeated or between commas; localhost is both 127.0.0.1 and ::1. ' +
        '[default: localhost]',
    }),
  };
  static override examples = [
    '<%= config.bin %> port-forward web 8080:80',
    '<%= config.bin %> port-forward web :80 :443',
    '<%= config.bin %> port-forward default/web 8080 --address 0.0.0.0',
    '<%= config.bin %> port-forward web 8080:80 --address 127.0.0.1,::1',
  ];

  async run(): Promise<void> {
    const {argv, flags} = await this.parse(PortForward);
    const [pod, ...ports] = argv as string[];
    if (pod === undefined || ports.length === 0)
      throw new ArgumentsError('a pod and at least one port are needed');
    const tls = tlsOptions(flags, this);
    if (pod === '') throw new UsageError(this.#wording.noId);
    // crictl asks the runtime before it looks at the ports.
    const early = this.compat ? undefined : this.#wanted(ports, flags);
    const {runtime} = await this.cri();
    const {signal, wording} = {signal: this.signal, wording: this.#wording};
    const podSandboxId = await resolveSandbox(runtime, pod, {signal, literal: this.compat});
    const url = await withContext(wording.asking(pod), forwardUrls(runtime, podSandboxId, signal));
    const {specs, groups, transport} = early ?? this.#wanted(ports, flags);
    const {clock, env} = this.context;
    const opening = openTunnel(url, {signal, clock, env, tls, transport});
    const tunnel = await withContext(wording.connecting(pod), opening);
    await this.#forward({specs, groups, tunnel}, async (failed) => {
      if (this.compat) await until(signal, tunnel.lost, failed);
      else throw podEnded(pod, await sandboxEnd(runtime, podSandboxId, {clock, signal}));
      throw new StreamingError('port forward: lost connection to pod');
    });
  }

  get #wording(): PortForwardWords {
    return this.compat ? CRICTL_WORDS : OWN_WORDS;
  }

  /** What the words and flags ask for. Throws UsageError. */
  #wanted(
    ports: readonly string[],
    flags: StreamingFlagValues & {readonly address?: readonly string[] | undefined},
  ) {
    const transport = transportOf(flags, this);
    const specs = ports.map((text): PortSpec => {
      const spec = parsePortSpec(text);
      if (isPortFault(spec)) throw this.#wording.portError(spec);
      return spec;
    });
    const addresses = addressGroups(flags.address ?? ['localhost']);
    if ('bad' in addresses) throw new UsageError(`--address "${addresses.bad}" is no IP address`);
    return {specs, groups: addresses.groups, transport};
  }

  /** Forwards until `ended` rejects, which is told of the first connection that failed, or Ctrl-C. */
  async #forward({specs, groups, tunnel}: Forwarding, ended: (failed: Promise<void>) => Promise<never>) {
    let fail: () => void = () => undefined;
    const failed = new Promise<void>((resolve) => (fail = resolve));
    const forwarder = new PortForwarder(tunnel, this.context.clock, {
      accepted: ({local}) => {
        this.print(`Handling connection for ${local}`);
      },
      failed: (ports, failure) => {
        this.complain(this.#wording.connectionFailed(ports, failure));
        fail();
      },
    });
    try {
      const bound: BoundPort[] = [];
      for (const spec of specs) bound.push(await this.#listen(forwarder, spec, groups));
      if (bound.some(({listeners}) => listeners.length > 0)) await ended(failed);
      else if (this.compat) throw new StreamingError(`port forward: ${nothingBoundText(bound)}`);
    } catch (error) {
      // Ctrl-C is how it is ended.
      if (!this.signal.aborted) throw error;
    } finally {
      forwarder.close();
    }
  }

  async #listen(forwarder: PortForwarder, spec: PortSpec, groups: readonly AddressGroup[]) {
    const bound = await forwarder.listen(spec, groups);
    for (const line of listeningLines(bound)) this.print(line);
    if (this.compat && !bound.isComplete) this.stderr.write(`${crictlNotListeningText(bound)}\n`);
    if (this.compat) return bound;
    for (const failure of bound.failures) {
      const text = notListeningText(failure);
      if (bound.isComplete) this.warn(text);
      else this.fail(new SystemError(text, {hint: `":${spec.remote}" takes any port that is free`}));
    }
    return bound;
  }
}

/** What is forwarded, and through what. */
interface Forwarding {
  readonly specs: readonly PortSpec[];
  readonly groups: readonly AddressGroup[];
  readonly tunnel: Tunnel;
}

/** Where URLs come from; the first one is asked for at once, and so tells whether the pod can be forwarded to. */
async function forwardUrls(
  runtime: RuntimeService,
  podSandboxId: PodSandboxId,
  signal: AbortSignal,
): Promise<PortForwardUrl> {
  const ask = async (port: readonly number[]): Promise<string> =>
    (await runtime.portForward({podSandboxId, port}, {signal})).url;
  const unused = [await ask([])];
  return async (ports) => (ports.length === 0 ? unused.pop() : undefined) ?? (await ask(ports));
}

/** Waits for the first of several things. Rejects with the signal's reason when it aborts before. */
async function until(signal: AbortSignal, ...things: readonly Promise<void>[]): Promise<void> {
  signal.throwIfAborted();
  const ended = new AbortController();
  const interrupted = once(signal, 'abort', {signal: ended.signal}).then(() => {
    signal.throwIfAborted();
  });
  try {
    await Promise.race([interrupted, ...things]);
  } finally {
    ended.abort();
  }
}

function podEnded(pod: string, end: SandboxEnd): StreamingError {
  return new StreamingError(`lost connection to pod: "${pod}" was ${end}`, {
    hint: '"kcri pods" lists what there is',
  });
}
