import {BaseCommand} from '../cli/command/base-command.js';
import {POD_SELECTION_FLAGS} from '../features/pods/pod-selection-flags.js';
import {runUi} from '../features/ui/run-ui.js';
import {UI_FLAGS} from '../features/ui/ui-flags.js';

export default class Ui extends BaseCommand {
  static override nodes = 'several' as const;
  static override summary = 'Serve a page with the live status of nodes and pods';
  static override description =
    'Serves a page for a browser on this machine, until interrupted: pods of all managers with their usage, nodes, logs, ' +
    'events, timelines, and what "why", "describe" and "doctor" find. Prints a link with a token that works once; on a ' +
    'terminal, Enter prints another one.\n\nThe page listens on 127.0.0.1. To open it from another machine, forward its port, for ' +
    'example with "ssh -t -L 7070:127.0.0.1:7070 HOST kcri ui --port=7070"; or run kcri here and reach the nodes through ' +
    'ssh with --runtime-endpoint=ssh://HOST, which installs nothing on them. It is read-only unless --allow names what ' +
    'it may do. Nodes are only sampled while a page is open.';
  static override usage = 'ui [POD...] [FLAGS]';
  static override strict = false;
  static override examples = [
    '<%= config.bin %> ui',
    '<%= config.bin %> ui --allow=exec,restart',
    '<%= config.bin %> ui -r ssh://node1 -r ssh://node2',
  ];
  static override flags = {...POD_SELECTION_FLAGS, ...UI_FLAGS};

  async run(): Promise<void> {
    const {flags, argv} = await this.parse(Ui);
    await runUi(this.services, argv as string[], flags);
  }
}
