import {EmptyValueError, SystemError, UsageError} from '../../base/errors.js';
import type {PodSandboxId, RuntimeService} from '../../cri/index.js';
import {waitForSandboxEnd} from '../../operations/pods/wait-for-sandbox-end.js';
import {resolveSandboxes} from '../../operations/resolve/resolve-names.js';
import {actOnTarget, type Target} from '../../operations/resolve/target.js';
import {withContext} from '../../operations/with-context.js';
import {StreamingError} from '../../streaming/session/errors.js';
import {parseListenAddresses, type AddressGroup} from '../../streaming/port-forward/listen-addresses.js';
import type {BoundPort} from '../../streaming/port-forward/listen.js';
import {openTunnel} from '../../streaming/port-forward/open-tunnel.js';
import {PortForwarder} from '../../streaming/port-forward/port-forwarder.js';
import {isInvalidPortSpec, parsePortSpec, type PortSpec} from '../../streaming/port-forward/port-spec.js';
import type {PortForwardUrl, Tunnel} from '../../streaming/port-forward/tunnel.js';
import type {
  DialectContext,
  EnvironmentContext,
  OutputContext,
  ReportContext,
  ResolvingContext,
  RuntimeContext,
  SignalContext,
} from '../../cli/command/contexts.js';
import {
  KCRI_STREAMING,
  type StreamingFlagValues,
  type StreamingStrategy,
} from '../sessions/streaming-flags.js';
import {
  KCRI_PORT_FORWARD_MESSAGES,
  listeningLines,
  notListeningText,
  type PortForwardMessages,
} from './port-forward-text.js';
import {explainMissing, findWorkloads} from '../containers/select-containers.js';
import {ArgumentsError} from '../../cli/parsing/usage-errors.js';

declare module '../../cli/dialect/command-strategies.js' {
  interface CommandStrategies {
    readonly portForward: PortForwardStrategy;
  }
}

/** Values of the flags of `port-forward`. */
export interface PortForwardFlags extends StreamingFlagValues {
  readonly address?: readonly string[] | undefined;
  /** Label selector of the pod. */
  readonly selector?: string | undefined;
}

/** Pod whose ports are forwarded. */
export interface ForwardedPod {
  /** Name of the pod as the user gave it. */
  readonly name: string;
  readonly runtime: RuntimeService;
  readonly id: PodSandboxId;
  readonly tunnel: Tunnel;
  /** Resolves when the first connection fails. */
  readonly connectionFailed: Promise<void>;
}

/** Differences of `port-forward` between the dialects. */
export interface PortForwardStrategy {
  readonly messages: PortForwardMessages;
  /** True if ports are parsed before the runtime is called. */
  readonly parsesFirst: boolean;
  /** Checks the flags of the connection after the runtime has accepted the request. Throws KcriError. */
  checkClient(flags: StreamingFlagValues): void;
  /** Waits for the end of the forwarding. Rejects with StreamingError or the signal's reason. */
  waitForEnd(services: EnvironmentContext & SignalContext, pod: ForwardedPod): Promise<never>;
  /** Reports addresses of a port that cannot be listened on. */
  reportUnbound(services: OutputContext & ReportContext, bound: BoundPort): void;
  /** Throws if no port is listened on and none was reported as an error. */
  checkBound(bound: readonly BoundPort[]): void;
}

/** kcri's port forwarding. */
export const KCRI_PORT_FORWARD: PortForwardStrategy = {
  messages: KCRI_PORT_FORWARD_MESSAGES,
  parsesFirst: true,
  checkClient: () => undefined,
  waitForEnd: async ({context: {clock}, signal}, {name, runtime, id}) => {
    const end = await waitForSandboxEnd(runtime, id, {clock, signal});
    throw new StreamingError(`lost connection to pod: "${name}" was ${end}`, {
      hint: 'run "kcri pods" to list pods',
    });
  },
  reportUnbound: ({report}, {failures, isComplete, spec}) => {
    for (const failure of failures) {
      const text = notListeningText(failure);
      if (isComplete) report.warn(text);
      else report.fail(new SystemError(text, {hint: `use ":${spec.remote}" for any free local port`}));
    }
  },
  checkBound: () => undefined,
};

/** Forwards local ports to a pod until Ctrl-C or the end of the pod. Rejects with KcriError. */
export async function forwardPorts(
  services: RuntimeContext & DialectContext & OutputContext & ResolvingContext,
  words: readonly string[],
  flags: PortForwardFlags,
): Promise<void> {
  const {selector} = flags;
  if (selector?.trim() === '') throw new EmptyValueError('--selector');
  const [pod, ...ports] = selector === undefined ? words : [selector, ...words];
  if (pod === undefined || ports.length === 0)
    throw new ArgumentsError('specify a pod and at least one port');
  const {connections, context, dialect, signal} = services;
  const strategy = await dialect.strategy('portForward', KCRI_PORT_FORWARD);
  const streaming = await dialect.strategy('streaming', KCRI_STREAMING);
  const {messages} = strategy;
  const tls = streaming.tls(flags);
  if (pod === '') throw new UsageError(messages.noId);
  const early = strategy.parsesFirst ? parseRequest(ports, flags, {messages, streaming}) : undefined;
  const {runtime} = await connections.default();
  const target = await findPod(services, runtime, pod, selector);
  const {id, url} = await actOnTarget(target, async (podId) => ({
    id: podId,
    url: await withContext(messages.requesting(pod), forwardUrls(runtime, podId, signal)),
  }));
  strategy.checkClient(flags);
  const {specs, groups, transport} = early ?? parseRequest(ports, flags, {messages, streaming});
  const {clock, env} = context;
  const {forward: throughNode} = connections;
  const opening = openTunnel(url, {signal, clock, env, tls, transport, forward: throughNode});
  const tunnel = await withContext(messages.connecting(pod), opening);
  await forward(services, strategy, {name: pod, runtime, id, tunnel, specs, groups});
}

/** Returns the named pod, or one of those of a workload or a label selector. Rejects with KcriError. */
async function findPod(
  services: RuntimeContext & DialectContext & ResolvingContext,
  runtime: RuntimeService,
  pod: string,
  selector: string | undefined,
): Promise<Target<PodSandboxId> | undefined> {
  if (selector !== undefined) {
    const {chooseSelectedPod} = await import('../targets/choose-pods.js');
    const {id} = await chooseSelectedPod(services, selector, {quiet: false});
    return {kind: 'found', ref: selector, id};
  }
  const ofWorkloads = await findWorkloads(services, [pod], {});
  const chosen = ofWorkloads.get(pod);
  if (chosen !== undefined) return {kind: 'found', ref: pod, id: chosen.id};
  const [target] = await resolveSandboxes(runtime, [pod], services.resolving({looksUpUnknown: true}));
  return target && (await explainMissing(target));
}

interface Parsers {
  readonly messages: PortForwardMessages;
  readonly streaming: StreamingStrategy;
}

/** Parses the ports and flags. Throws UsageError. */
function parseRequest(ports: readonly string[], flags: PortForwardFlags, {messages, streaming}: Parsers) {
  const transport = streaming.transport(flags);
  const specs = ports.map((text): PortSpec => {
    const spec = parsePortSpec(text);
    if (isInvalidPortSpec(spec)) throw messages.portError(spec);
    return spec;
  });
  const addresses = parseListenAddresses(flags.address ?? ['localhost']);
  if ('bad' in addresses)
    throw new UsageError(`invalid --address "${addresses.bad}": must be an IP address or localhost`);
  return {specs, groups: addresses.groups, transport};
}

interface Forwarding extends Omit<ForwardedPod, 'connectionFailed'> {
  readonly specs: readonly PortSpec[];
  readonly groups: readonly AddressGroup[];
}

async function forward(
  services: EnvironmentContext & OutputContext & ReportContext & SignalContext,
  strategy: PortForwardStrategy,
  {specs, groups, ...pod}: Forwarding,
): Promise<void> {
  const {context, out, report, signal} = services;
  let reportFailure: () => void = () => undefined;
  const connectionFailed = new Promise<void>((resolve) => (reportFailure = resolve));
  const forwarder = new PortForwarder(pod.tunnel, context.clock, {
    accepted: ({local}) => {
      out.print(`Handling connection for ${local}`);
    },
    failed: (ports, failure) => {
      report.error(strategy.messages.connectionFailed(ports, failure));
      reportFailure();
    },
  });
  try {
    const bound: BoundPort[] = [];
    for (const spec of specs) {
      const port = await forwarder.listen(spec, groups);
      for (const line of listeningLines(port)) out.print(line);
      strategy.reportUnbound(services, port);
      bound.push(port);
    }
    if (bound.some(({listeners}) => listeners.length > 0))
      await strategy.waitForEnd(services, {...pod, connectionFailed});
    else strategy.checkBound(bound);
  } catch (error) {
    // Ctrl-C ends port forwarding normally.
    if (!signal.aborted) throw error;
  } finally {
    forwarder.close();
  }
}

/** Returns a source of streaming URLs. The first URL is requested immediately, which fails if the pod has none. */
async function forwardUrls(
  runtime: RuntimeService,
  podSandboxId: PodSandboxId,
  signal: AbortSignal,
): Promise<PortForwardUrl> {
  const request = async (port: readonly number[]): Promise<string> =>
    (await runtime.portForward({podSandboxId, port}, {signal})).url;
  const unused = [await request([])];
  return async (ports) => (ports.length === 0 ? unused.pop() : undefined) ?? (await request(ports));
}
