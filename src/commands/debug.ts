import * as Args from '@oclif/core/args';
import {BaseCommand} from '../cli/command/base-command.js';
import {DEBUG_FLAGS} from '../features/debug/debug-flags.js';
import {splitRunLine} from '../features/run/run-form.js';

export default class Debug extends BaseCommand {
  static override summary = 'Debug a container, a copy of its pod, or the node';
  static override description =
    'Runs a container of another image in the pod of a running container, with its network and ' +
    'processes; its files are in /proc/1/root. It is removed when it exits, and kcri exits with its exit ' +
    'code.\n\nWorks for images without a shell, for the pods of kcri and for those of a kubelet, which ' +
    'leaves the container alone until the pod ends. With --copy-to, kcri runs a copy of the pod with ' +
    'another command or image, without its labels and probes, also if the original has exited. With ' +
    '--node, the container has the namespaces and capabilities of the node; without --image it runs a ' +
    'shell of the node itself.\n\nAn interactive shell ignores SIGTERM: if its pod is deleted during the session, it runs until ' +
    'the grace period of the pod ends, as in a cluster, or until "kcri delete --grace-period" kills it ' +
    'earlier.\n\nThe profiles are those of kubectl debug: general adds SYS_PTRACE, ' +
    'netadmin NET_ADMIN and NET_RAW, sysadmin is privileged, baseline adds nothing, restricted drops all ' +
    'capabilities and requires a user other than root. In a pod without privileged containers, containerd ' +
    'permits none: sysadmin then has all capabilities, but no devices.';
  static override usage = 'debug [FLAGS] CONTAINER|POD|--node [-- COMMAND [ARG...]]';
  static override examples = [
    '<%= config.bin %> debug -it web --image=busybox -- sh',
    '<%= config.bin %> debug -it web --copy-to=web-debug -c server -- sh',
    '<%= config.bin %> debug -it --node',
  ];
  static override strict = false;
  static override args = {
    container: Args.string({
      ignoreStdin: true,
      description: 'ID, ID prefix, name, or POD/NAME of the container; or a pod.',
    }),
    command: Args.string({ignoreStdin: true, multiple: true, description: 'Command and its arguments.'}),
  };
  static override flags = DEBUG_FLAGS;

  async run(): Promise<void> {
    const {argv, flags} = await this.parse(Debug);
    const {services} = this;
    const {parseDebugRequest} = await import('../features/debug/debug-request.js');
    const request = parseDebugRequest(services, splitRunLine(this.argv, argv as string[]), flags);
    if (request.flags.node)
      await (await import('../features/debug/debug-node.js')).debugNode(services, request);
    else if (flags['copy-to'] !== undefined)
      await (await import('../features/debug/debug-copy.js')).debugCopy(services, request);
    else await (await import('../features/debug/debug-container.js')).debugContainer(services, request);
  }
}
