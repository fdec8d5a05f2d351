import * as Flags from '@oclif/core/flags';
import type {JsonObject} from '../format/json.js';
import type {Target} from '../operations/resolve.js';
import {BaseCommand} from './base-command.js';
import {formOf, outputFlag, sortedText, templateFlag} from './formats.js';
import type {StatusTextOptions} from './views/status-text.js';

const FORMATS = ['json', 'yaml', 'table'] as const;

/** The flags of all `inspect` commands. */
export const INSPECT_FLAGS = {
  output: outputFlag(FORMATS),
  quiet: Flags.boolean({char: 'q', description: 'Leave out what only this runtime knows.'}),
  template: templateFlag,
};

interface InspectFlags {
  readonly output?: string | undefined;
  readonly template?: string | undefined;
  readonly quiet: boolean;
}

/** How one kind of object is inspected. */
export interface Inspection<Id, Response> {
  readonly targets: readonly Target<Id>[];
  readonly fetch: (id: Id, verbose: boolean) => Promise<Response>;
  readonly json: (response: Response) => JsonObject;
  readonly text: (response: Response, options: StatusTextOptions) => string;
}

const AT_ONCE = 8;

/** What `inspect`, `inspectp` and `inspecti` share. */
export abstract class InspectCommand extends BaseCommand {
  /** Throws UsageError for a form of output that there is not, before anything is asked. */
  protected async checkFormat(flags: InspectFlags): Promise<void> {
    await formOf(flags, FORMATS);
  }

  /**
   * Prints one object for one target and a list for several, in the targets' order. What can't be inspected is
   * shown as an error and does not hide the others.
   */
  protected async inspect<Id, Response>(
    flags: InspectFlags,
    {targets, fetch, json, text}: Inspection<Id, Response>,
  ): Promise<void> {
    const form = await formOf(flags, FORMATS);
    const verbose = !flags.quiet;
    const responses = new Map<string, Response>();
    const fetchOne = async (id: Id, ref: string): Promise<void> => {
      responses.set(ref, await fetch(id, verbose));
    };
    await this.forEachTarget(targets, fetchOne, AT_ONCE);
    const found = targets.flatMap(({ref}) => responses.get(ref) ?? []);
    if (found.length === 0) return;
    if (form.kind === 'table') {
      const options = {nowMs: this.context.clock.now(), verbose};
      this.printAll(found, (response) => `${text(response, options)}\n`);
      return;
    }
    const objects = found.map(json);
    this.print(await sortedText(form, targets.length === 1 ? (objects[0] ?? {}) : objects));
  }
}
