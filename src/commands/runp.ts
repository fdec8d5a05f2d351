import * as Args from '@oclif/core/args';
import {isHttpUrl} from '../base/is-http-url.js';
import {BaseCommand} from '../cli/command/base-command.js';
import {kcriOnlyFlags} from '../cli/flags/flag-types.js';
import {POD_FLAGS} from '../features/manifests/pod-flags.js';
import {CANCEL_TIMEOUT_FLAG, RUNTIME_FLAG} from '../features/pull/pull-flags.js';
import {createCriConfigReader, type CriConfigReader} from '../features/cri-configs/cri-config-reader.js';
import {runManifest} from '../features/run/run-manifest.js';
import {ArgumentsError} from '../cli/parsing/usage-errors.js';
import type {NamedText} from '../operations/manifests/read-text.js';
import {withContext} from '../operations/with-context.js';

/** Context of errors about the config file. */
const LOADING = 'load podSandboxConfig';

interface SandboxFlags {
  readonly runtime: string;
  readonly 'cancel-timeout'?: number | undefined;
}

export default class Runp extends BaseCommand {
  static override nodes = 'one' as const;
  static override summary = 'Run a pod';
  static override description =
    'Creates the sandbox of a CRI pod config, as crictl does, or runs a whole Kubernetes Pod from its ' +
    'manifest. Prints the ID of the sandbox.';
  static override usage = 'runp FILE|URL|- [FLAGS]';
  static override examples = [
    '<%= config.bin %> runp pod-config.json',
    '<%= config.bin %> runp --runtime=kata pod-config.yaml',
    '<%= config.bin %> runp pod.yaml',
  ];
  static override args = {
    file: Args.string({
      ignoreStdin: true,
      description:
        'Pod config or Pod manifest, as JSON or YAML, or the URL of a manifest; - reads it from standard input.',
    }),
  };
  static override flags = {
    ...kcriOnlyFlags(POD_FLAGS),
    runtime: RUNTIME_FLAG,
    'cancel-timeout': CANCEL_TIMEOUT_FLAG,
  };

  async run(): Promise<void> {
    const {args, flags} = await this.parse(Runp);
    const {file = ''} = args;
    if (file === '') throw new ArgumentsError('no pod config or manifest specified');
    if (isHttpUrl(file)) {
      await runManifest(this.services, file, flags);
      return;
    }
    const configs = await createCriConfigReader(this.services, [file]);
    // Read once, because a pipe cannot be read again.
    const source = await configs.withErrorContext(LOADING, () => configs.readText(file));
    if (isManifest(source.text)) await runManifest(this.services, source, flags);
    else await this.#runSandbox(source, configs, flags);
  }

  async #runSandbox(
    source: NamedText,
    configs: CriConfigReader,
    {runtime: runtimeHandler, 'cancel-timeout': timeoutMs}: SandboxFlags,
  ): Promise<void> {
    const config = await configs.withErrorContext(LOADING, () => configs.readPodSandboxConfig(source));
    const {runtime} = await this.cri(timeoutMs);
    const running = runtime.runPodSandbox({config, runtimeHandler}, {signal: this.signal});
    this.out.print((await withContext('run pod sandbox', running)).podSandboxId);
  }
}

/** Reports whether a text is a Kubernetes manifest, which has a kind, rather than a config file of the CRI. */
function isManifest(text: string): boolean {
  return text.trimStart().startsWith('{') ? hasKind(text) : /^(["']?)(?:kind|apiVersion)\1\s*:/m.test(text);
}

/**
 * Reports whether the text has a top-level `kind`. JSON must be parsed, because a label may be named kind too; YAML
 * shows its levels by indentation.
 */
function hasKind(text: string): boolean {
  try {
    const value = JSON.parse(text) as object;
    return 'kind' in value || 'apiVersion' in value;
  } catch {
    return /"kind"\s*:/.test(text);
  }
}
