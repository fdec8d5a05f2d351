import * as Flags from '@oclif/core/flags';
import {durationFlag, integerFlag} from '../cli/flags.js';
import {runKubelet} from '../cli/kubelet/run-kubelet.js';
import {PodCommand} from '../cli/pod-command.js';
import {POD_FLAGS} from '../cli/pod-flags.js';

const {static: _static, lenient: _lenient, ...NODE_FLAGS} = POD_FLAGS;

export default class Kubelet extends PodCommand {
  static override summary = 'Keep the Pods of a directory or a URL running, as a kubelet does';
  static override usage = 'kubelet [OPTIONS]';
  static override examples = ['kcri kubelet --pod-manifest-path /etc/kubernetes/manifests'];
  static override flags = {
    ...NODE_FLAGS,
    'pod-manifest-path': Flags.string({
      helpValue: 'PATH',
      description: 'The directory with manifests, or a manifest, whose Pods are kept running.',
    }),
    'file-check-frequency': durationFlag({
      helpValue: 'DURATION',
      description: 'How often all manifests are read again, besides when they change. [default: 20s]',
    }),
    'sync-frequency': durationFlag({
      helpValue: 'DURATION',
      description: 'How often each pod is looked at at least. [default: 1m]',
    }),
    'container-runtime-endpoint': Flags.string({
      helpValue: 'ENDPOINT',
      description: 'Socket of the CRI runtime. [default: as --runtime-endpoint]',
    }),
    v: integerFlag({helpValue: 'LEVEL', description: 'How much is logged. [default: 0]'}),
    'no-admission': Flags.boolean({description: 'Run pods that the node has no room for, too.'}),
    'no-evented-pleg': Flags.boolean({description: "Don't use the runtime's events; list it every second."}),
    'stop-pods-on-exit': Flags.boolean({description: 'End all pods when it ends; else they go on running.'}),
  };

  async run(): Promise<void> {
    const {flags} = await this.parse(Kubelet);
    const endpoint = flags['container-runtime-endpoint'];
    const connection = endpoint === undefined ? await this.cri() : await this.connectTo(endpoint);
    const {clock, stderr} = this.context;
    await runKubelet({
      node: await this.describeNode(flags, connection),
      connection,
      manifestPath: flags['pod-manifest-path'],
      fileCheckFrequencyMs: flags['file-check-frequency'] ?? 20_000,
      syncFrequencyMs: flags['sync-frequency'] ?? 60_000,
      admission: !flags['no-admission'],
      eventedPleg: !flags['no-evented-pleg'],
      stopPodsOnExit: flags['stop-pods-on-exit'],
      verbosity: flags.v ?? 0,
      stderr,
      clock,
      signal: this.signal,
      mask: (text) => this.masked(text),
      hide: (texts) => {
        this.hide(texts);
      },
    });
  }
}
