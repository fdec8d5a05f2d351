import type {Clock} from '../../../base/clock.js';
import {canonicalEndpoint} from '../../../cri/endpoint.js';
import type {Connection} from '../../../cri/index.js';
import {readNodeFacts, type NodeOptions} from '../../node/read-node-facts.js';
import {ignoringCdi} from '../../node/runtime-features.js';
import type {PodRegistryOptions} from './pod-registry-options.js';
import {createUnavailableRuntime} from './unavailable-runtime.js';

/** Facts of a node and its runtime, as input of a pod registry or a plan. */
export type NodeAndRuntime = Omit<PodRegistryOptions, 'observer' | 'files' | 'objects' | 'probes'>;

/** Reads the facts of the node and the name of its runtime. Changes nothing; rejects with CriError. */
export async function readNode(
  {endpoint, runtime, images}: Connection,
  node: NodeOptions,
  {clock, signal}: {readonly clock: Clock; readonly signal: AbortSignal},
): Promise<NodeAndRuntime> {
  const [version, facts] = await Promise.all([
    runtime.version({version: '0.1.0'}, {signal}),
    readNodeFacts(runtime, node, signal),
  ]);
  return {
    services: {runtime, images},
    endpoint: await canonicalEndpoint(endpoint),
    node: {...facts, runtime: {...facts.runtime, ignoresCdi: ignoringCdi(version, facts.runtime)}},
    runtimeName: version.runtimeName,
    clock,
  };
}

/**
 * Describes a node whose runtime at `endpoint` and its containers no longer exist. The result suffices to clean up
 * after pods created there.
 */
export async function readAbandonedNode(
  endpoint: string,
  rootDir: string,
  clock: Clock,
  cgroupMount: string | undefined,
): Promise<NodeAndRuntime> {
  const services = createUnavailableRuntime(endpoint);
  const node = await readNodeFacts(services.runtime, {
    rootDir,
    cgroupMount,
    cgroupDriver: 'cgroupfs',
    resolvConf: '',
  });
  return {services, endpoint, node, runtimeName: '', clock};
}
