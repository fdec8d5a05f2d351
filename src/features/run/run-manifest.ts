import type {PodSandboxId} from '../../cri/index.js';
import type {ManifestSource} from '../../operations/manifests/read-manifests.js';
import {findPrivateEndpoint} from '../../private-runtime/private-endpoint.js';
import type {OutputContext, RuntimeContext, SecretsContext} from '../../cli/command/contexts.js';
import {runSync} from '../sync/run-sync.js';
import {chooseRenderer} from '../sync/view/choose-renderer.js';
import {SilentRenderer} from '../sync/view/sync-renderer.js';
import {loadPods, type ManifestFlagValues} from '../manifests/load-pods.js';

/** Runs the pods of a manifest until they are ready, and prints the IDs of their sandboxes. */
export async function runManifest(
  services: RuntimeContext & OutputContext & SecretsContext,
  source: ManifestSource,
  flags: ManifestFlagValues,
): Promise<void> {
  for (const id of await startManifest(services, source, flags)) services.out.print(id);
}

/**
 * Runs the pods of a manifest until they are ready, and returns the IDs of their sandboxes. Reports errors, and then
 * returns none.
 */
export async function startManifest(
  services: RuntimeContext & OutputContext & SecretsContext,
  source: ManifestSource,
  flags: ManifestFlagValues,
): Promise<readonly PodSandboxId[]> {
  const {context, out, report, secrets} = services;
  const loaded = await loadPods(services, [source], flags);
  const {runtime} = await services.connections.default();
  const {clock, env} = context;
  const {stderr} = out;
  // Standard output is reserved for the ID; progress goes to standard error.
  const renderer = stderr.isTerminal
    ? await chooseRenderer({
        format: 'text',
        warnings: false,
        stdout: stderr,
        stderr,
        colors: false,
        env,
        clock,
      })
    : new SilentRenderer();
  out.writeAbove(renderer);
  const {exitCode, errors} = await runSync(loaded, {
    runtime,
    wait: 'ready',
    timeoutMs: undefined,
    minReadyMs: 0,
    replace: false,
    isPrivateRuntime: findPrivateEndpoint(services.settings.rootDir) === loaded.node.endpoint,
    remove: false,
    isExplained: false,
    logs: undefined,
    mask: (text) => secrets.mask(text),
    hide: (texts) => {
      secrets.add(texts);
    },
    warn: report.warn,
    renderer,
    context,
  });
  report.setExitCode(exitCode);
  for (const error of errors) report.fail(error);
  if (errors.length > 0) return [];
  const {openPodRegistry, SILENT_OBSERVER} = await import('../../kubelet/index.js');
  const registry = openPodRegistry(loaded.node, SILENT_OBSERVER, loaded.objects);
  const ids: PodSandboxId[] = [];
  for (const {pod} of loaded.pods) {
    const [sandbox] = (await registry.createSyncer(pod).observe(services.signal)).runtime.sandboxes;
    if (sandbox !== undefined) ids.push(sandbox.id);
  }
  return ids;
}
