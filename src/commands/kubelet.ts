import * as Flags from '@oclif/core/flags';
import {CONFIG_FLAGS, configFlagTexts, shownFlags, UNHEEDED_FLAGS, unheeded} from '../cli/kubelet/flags.js';
import {containerGcOf, DEAD_CONTAINER_FLAGS} from '../cli/kubelet/dead-container-flags.js';
import {nodeFlagsOf} from '../cli/kubelet/node-flags.js';
import type {RunKubeletOptions} from '../cli/kubelet/run-kubelet.js';
import {readConfigFiles} from '../cli/kubelet/read-config-files.js';
import {PodCommand} from '../cli/pod-command.js';
import {POD_FLAGS, type PodFlagValues} from '../cli/pod-flags.js';
import {durationMs} from '../cli/flags.js';
import type {KubeletConfig} from '../kubelet/index.js';

const NODE_FLAGS = {
  'hostname-override': POD_FLAGS['hostname-override'],
  'node-ip': POD_FLAGS['node-ip'],
  'node-labels': POD_FLAGS['node-labels'],
  'node-cpu': POD_FLAGS['node-cpu'],
  'node-memory': POD_FLAGS['node-memory'],
  'image-credential-provider-config': POD_FLAGS['image-credential-provider-config'],
  'image-credential-provider-bin-dir': POD_FLAGS['image-credential-provider-bin-dir'],
};

export default class Kubelet extends PodCommand {
  static override summary =
    'Keep the Pods of a directory or a URL running, as a kubelet without a cluster does';
  static override description =
    'Runs until SIGTERM or Ctrl-C, and leaves its pods running then; the next one takes them over. SIGHUP has all ' +
    'manifests and the configuration read again at once: what can change without a new start does, the rest is ' +
    "told. The kubelet's flags and its KubeletConfiguration have their meaning; a flag " +
    'counts before the file. Which fields are honoured says docs/kubelet-config.md. Unlike a kubelet it listens on ' +
    'loopback unless it is told otherwise, lets in nobody who shows no certificate, and runs where there is swap. ' +
    'The log goes to standard error.';
  static override usage = 'kubelet [OPTIONS]';
  static override examples = [
    '<%= config.bin %> kubelet --pod-manifest-path /etc/kubernetes/manifests',
    '<%= config.bin %> kubelet --config examples/kubelet/config.yaml',
    '<%= config.bin %> kubelet --config /etc/kcri/kubelet.yaml --print-unit > /etc/systemd/system/kcri-kubelet.service',
  ];
  static override flags = {
    config: Flags.string({
      helpGroup: 'KUBELET',
      helpValue: 'FILE',
      description: 'A KubeletConfiguration (kubelet.config.k8s.io/v1beta1).',
    }),
    'config-dir': Flags.string({
      helpGroup: 'KUBELET',
      helpValue: 'DIR',
      description: 'More of it: what the files *.conf say goes before, in the order of their names.',
    }),
    'cert-dir': Flags.string({
      helpGroup: 'KUBELET',
      helpValue: 'DIR',
      description: "The server's certificate, made when there is none. [default: ROOT-DIR/pki]",
    }),
    'authorization-policy-file': Flags.string({
      helpGroup: 'KUBELET',
      helpValue: 'FILE',
      description:
        'Who may do what at the server: ClusterRoles and ClusterRoleBindings. [default: all that are let in may all]',
    }),
    ...CONFIG_FLAGS,
    ...DEAD_CONTAINER_FLAGS,
    ...UNHEEDED_FLAGS,
    ...NODE_FLAGS,
    'no-admission': Flags.boolean({description: 'Run pods too that the node has no room for.'}),
    'stop-pods-on-exit': Flags.boolean({description: 'End all pods at the end.'}),
    'check-config': Flags.boolean({
      description: 'Only check the configuration, and tell what of it has no effect.',
    }),
    'print-unit': Flags.boolean({
      description: 'Only print a unit for systemd that starts it with the same options.',
    }),
  };

  async run(): Promise<void> {
    // As the kubelet's: words of a flag's name may be joined by underscores.
    const argv = this.argv.map((word) => word.replace(/^--[\w-]+/, (name) => name.replaceAll('_', '-')));
    const {flags} = await this.parse(Kubelet, argv);
    const {readKubeletConfig} = await import('../kubelet/index.js');
    const ignoredFlags = unheeded(flags);
    const readConfig = async (): Promise<KubeletConfig> =>
      readKubeletConfig(
        await readConfigFiles(flags.config, flags['config-dir'], this.signal),
        configFlagTexts(flags),
      );
    const config = await readConfig();
    if (flags['print-unit']) {
      const {unitFile} = await import('../cli/kubelet/unit-file.js');
      const {env, program} = this.context;
      this.show(unitFile({program, argv: this.argv, directory: process.cwd(), env}));
      return;
    }
    if (flags['check-config']) {
      for (const {field, reason} of [...config.unsupported, ...config.ignored])
        this.print(`${field} has no effect: ${reason}`);
      return;
    }
    await this.#run(flags, {config, readConfig, ignoredFlags});
  }

  async #run(
    flags: Readonly<Record<string, unknown>> & PodFlagValues,
    reading: Pick<RunKubeletOptions, 'config' | 'readConfig' | 'ignoredFlags'>,
  ): Promise<void> {
    const {runKubelet} = await import('../cli/kubelet/run-kubelet.js');
    const {validateConnection} = await import('../cli/kubelet/validate-connection.js');
    const {values} = reading.config;
    const node = {...flags, ...nodeFlagsOf(values)};
    await runKubelet({
      ...reading,
      rootDir: this.rootDir,
      certDir: typeof flags['cert-dir'] === 'string' ? flags['cert-dir'] : `${this.rootDir}/pki`,
      policyFile: flags['authorization-policy-file'] as string | undefined,
      open: async (observer) => {
        const {containerRuntimeEndpoint: given, imageServiceEndpoint: images} = values;
        const endpoint = given === '' ? await this.endpoint() : given;
        const imageEndpoint = images === '' ? (await this.settings()).imageEndpoint : images;
        const timeoutMs = durationMs(values.runtimeRequestTimeout);
        const connection = await this.connectTo(endpoint, timeoutMs, imageEndpoint, [observer]);
        await validateConnection(connection, {endpoint, imageEndpoint}, this.signal);
        const described = await this.describeNode(node, connection);
        return {connection, node: {...described, imageCredentials: await this.openNodeCredentials(flags)}};
      },
      admission: flags['no-admission'] !== true,
      stopPodsOnExit: flags['stop-pods-on-exit'] === true,
      containerGc: containerGcOf(flags),
      program: {version: this.config.version, flags: shownFlags(flags)},
      context: this.context,
      mask: (text) => this.masked(text),
      hide: (texts) => {
        this.hideInstead(texts);
      },
    });
  }
}
