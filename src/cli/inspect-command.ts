import * as Flags from '@oclif/core/flags';
import type {JsonObject} from '../format/json.js';
import type {Target} from '../operations/resolve.js';
import {BaseCommand} from './base-command.js';
import {formOf, outputFlag, sortedText, templateFlag, type Form} from './formats.js';

const FORMATS = ['json', 'yaml', 'table'] as const;
type InspectForm = Form<(typeof FORMATS)[number]>;

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
  /** The object as people read it. */
  readonly text: (response: Response, nowMs: number) => string;
  /** The object as crictl's table has it. */
  readonly crictlText: (response: Response, options: CrictlTextOptions) => string;
  /** What crictl says that it was doing when something fails. */
  readonly crictlContext?: string;
}

/** How crictl's table is made. */
export interface CrictlTextOptions {
  readonly nowMs: number;
  /** With what only the runtime knows. */
  readonly verbose: boolean;
}

const AT_ONCE = 8;

/** What `inspect`, `inspectp` and `inspecti` share. */
export abstract class InspectCommand extends BaseCommand {
  #form: InspectForm | undefined;

  /** Throws UsageError for a form of output that there is not, before anything is asked. crictl finds out later. */
  protected async checkFormat(flags: InspectFlags): Promise<void> {
    if (!this.compat) this.#form = await formOf(flags, FORMATS, this);
  }

  /**
   * Prints one object for one target and a list for several, in the targets' order. What can't be inspected is
   * shown as an error and does not hide the others; in crictl's dialect it ends the command.
   */
  protected async inspect<Id, Response>(
    flags: InspectFlags,
    inspection: Inspection<Id, Response>,
  ): Promise<void> {
    const {targets, json, text} = inspection;
    const found = await (this.compat
      ? this.#fetchAsCrictl(flags, inspection)
      : this.#fetchAll(flags, inspection));
    if (found.length === 0) return;
    const form = this.#form ?? (await formOf(flags, FORMATS, this));
    if (form.kind === 'table') {
      const nowMs = this.context.clock.now();
      this.show(found.map((response) => text(response, nowMs)).join('\n'));
      return;
    }
    const objects = found.map(json);
    this.print(await sortedText(form, targets.length === 1 ? (objects[0] ?? {}) : objects));
  }

  async #fetchAll<Id, Response>(
    flags: InspectFlags,
    {targets, fetch}: Inspection<Id, Response>,
  ): Promise<readonly Response[]> {
    const responses = new Map<string, Response>();
    const fetchOne = async (id: Id, ref: string): Promise<void> => {
      responses.set(ref, await fetch(id, !flags.quiet));
    };
    await this.forEachTarget(targets, fetchOne, AT_ONCE);
    return targets.flatMap(({ref}) => responses.get(ref) ?? []);
  }

  /** crictl asks one after the other, ends at the first failure, and prints its table in between. */
  async #fetchAsCrictl<Id, Response>(
    flags: InspectFlags,
    {targets, fetch, crictlText, crictlContext}: Inspection<Id, Response>,
  ): Promise<readonly Response[]> {
    const {saying} = await import('./compat/lists.js');
    const [nowMs, verbose] = [this.context.clock.now(), !flags.quiet];
    const found: Response[] = [];
    await this.forEachTarget(targets, async (id) => {
      const response = await (crictlContext === undefined
        ? fetch(id, verbose)
        : saying(crictlContext, () => fetch(id, verbose)));
      if (flags.output === 'table') this.print(crictlText(response, {nowMs, verbose}));
      else found.push(response);
    });
    return found;
  }
}
