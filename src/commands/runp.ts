import * as Args from '@oclif/core/args';
import {configReader, type ConfigReader} from '../cli/config-reader.js';
import {PodCommand, type ManifestFlagValues} from '../cli/pod-command.js';
import {POD_FLAGS} from '../cli/pod-flags.js';
import {CANCEL_TIMEOUT_FLAG, RUNTIME_FLAG} from '../cli/pull-flags.js';
import {runSync} from '../cli/sync-session.js';
import {chooseRenderer} from '../cli/sync-view/choose.js';
import {SilentRenderer} from '../cli/sync-view/renderer.js';
import {ArgumentsError} from '../cli/usage-errors.js';
import type {ManifestSource} from '../operations/read-manifests.js';
import type {NamedText} from '../operations/read-text.js';
import {withContext} from '../operations/with-context.js';

const LOADING = 'load podSandboxConfig';

interface SandboxFlags {
  readonly runtime: string;
  readonly 'cancel-timeout'?: number | undefined;
}

export default class Runp extends PodCommand {
  static override summary = 'Run a pod';
  static override description =
    "Takes crictl's pod config, and makes its sandbox; or a Kubernetes Pod manifest, and runs the whole pod. " +
    'Either way the id of the sandbox is printed.';
  static override usage = 'runp pod-config.[json|yaml]|pod.yaml|- [OPTIONS]';
  static override examples = [
    '<%= config.bin %> runp pod-config.json',
    '<%= config.bin %> runp --runtime kata pod-config.yaml',
    '<%= config.bin %> runp pod.yaml',
  ];
  static override args = {
    file: Args.string({
      ignoreStdin: true,
      description: 'A pod config, a Pod manifest, or - for a manifest on standard input.',
    }),
  };
  static override flags = {
    ...POD_FLAGS,
    runtime: RUNTIME_FLAG,
    'cancel-timeout': CANCEL_TIMEOUT_FLAG,
  };

  async run(): Promise<void> {
    const {args, flags} = await this.parse(Runp);
    const {file = ''} = args;
    if (file === '') throw new ArgumentsError('no pod config or manifest is given');
    // Read once, since a pipe gives its text only once.
    const {compat, signal} = this;
    const configs = await configReader({compat, signal, warn: (text) => void this.warn(text)});
    const read = async () => await configs.saying(LOADING, () => configs.text(file));
    const source = file === '-' ? file : await read();
    if (typeof source === 'string' || isManifest(source.text)) await this.#runManifest(source, flags);
    else await this.#runSandbox(source, configs, flags);
  }

  async #runSandbox(
    source: NamedText,
    configs: ConfigReader,
    {runtime: runtimeHandler, 'cancel-timeout': timeoutMs}: SandboxFlags,
  ): Promise<void> {
    const config = await configs.saying(LOADING, () => configs.sandbox(source));
    const {runtime} = await this.cri(timeoutMs);
    const running = runtime.runPodSandbox({config, runtimeHandler}, {signal: this.signal});
    this.print((await withContext('run pod sandbox', running)).podSandboxId);
  }

  async #runManifest(source: ManifestSource, flags: ManifestFlagValues): Promise<void> {
    const loaded = await this.loadPods([source], flags);
    const {stderr, context} = this;
    // stdout is for the id; progress is for a person who watches.
    const renderer = stderr.isTerminal
      ? await chooseRenderer({
          format: 'text',
          warnings: false,
          stdout: stderr,
          stderr,
          colors: false,
          clock: context.clock,
        })
      : new SilentRenderer();
    this.tellBeside(renderer);
    const {exitCode, errors} = await runSync(loaded, {
      wait: 'ready',
      timeoutMs: undefined,
      remove: false,
      logs: undefined,
      mask: (text) => this.masked(text),
      hide: (texts) => {
        this.hide(texts);
      },
      renderer,
      context,
    });
    this.exitWith(exitCode);
    for (const error of errors) this.fail(error);
    if (errors.length > 0) return;
    const {openLocalPods, SILENT_OBSERVER} = await import('../kubelet/index.js');
    const local = openLocalPods(loaded.node, SILENT_OBSERVER, loaded.objects);
    for (const {pod} of loaded.pods) {
      const [sandbox] = (await local.syncer(pod).observe(this.signal)).runtime.sandboxes;
      if (sandbox !== undefined) this.print(sandbox.id);
    }
  }
}

/** Kubernetes objects say their kind; crictl's configs have none. */
function isManifest(text: string): boolean {
  return text.trimStart().startsWith('{') ? hasKind(text) : /^(["']?)(?:kind|apiVersion)\1\s*:/m.test(text);
}

/** Labels may be named kind too, so that JSON has to be read; YAML shows by its indentation. */
function hasKind(text: string): boolean {
  try {
    const value = JSON.parse(text) as object;
    return 'kind' in value || 'apiVersion' in value;
  } catch {
    return /"kind"\s*:/.test(text);
  }
}
