import * as Flags from '@oclif/core/flags';
import {jsonItem, jsonList, type JsonObject} from '../format/json.js';
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

/** Makes what is printed of each object as soon as it is there, while the runtime is asked about others. */
interface Rendering<Response> {
  add(ref: string, response: Response): void;
  /** What is printed of those that are there, in this order; undefined when there are none. */
  text(refs: readonly string[]): string | Promise<string> | undefined;
}

function rendering<Response, Part>(
  part: (response: Response) => Part,
  whole: (parts: readonly Part[]) => string | Promise<string>,
): Rendering<Response> {
  const parts = new Map<string, Part>();
  return {
    add: (ref, response) => void parts.set(ref, part(response)),
    text: (refs) => (parts.size === 0 ? undefined : whole(refs.flatMap((ref) => parts.get(ref) ?? []))),
  };
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
    const form = this.#form;
    if (form === undefined) {
      await this.#inspectAsCrictl(flags, inspection);
      return;
    }
    const {targets, fetch} = inspection;
    const shown = this.#rendering(form, inspection);
    const fetchOne = async (id: Id, ref: string): Promise<void> => {
      shown.add(ref, await fetch(id, !flags.quiet));
    };
    await this.forEachTarget(targets, fetchOne, AT_ONCE);
    const text = await shown.text(targets.map(({ref}) => ref));
    if (text === undefined) return;
    if (form.kind === 'table') this.show(text);
    else this.print(text);
  }

  #rendering<Id, Response>(
    form: InspectForm,
    {targets, json, text}: Inspection<Id, Response>,
  ): Rendering<Response> {
    if (form.kind === 'table') {
      const nowMs = this.context.clock.now();
      return rendering(
        (response) => text(response, nowMs),
        (texts) => texts.join('\n'),
      );
    }
    if (targets.length === 1) return rendering(json, async ([object = {}]) => await sortedText(form, object));
    if (form.kind === 'json')
      return rendering((response) => jsonItem(json(response), {sortKeys: true}), jsonList);
    return rendering(json, async (objects) => await sortedText(form, objects));
  }

  /** crictl asks one after the other, ends at the first failure, and prints its table in between. */
  async #inspectAsCrictl<Id, Response>(
    flags: InspectFlags,
    {targets, fetch, json, crictlText, crictlContext}: Inspection<Id, Response>,
  ): Promise<void> {
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
    if (found.length === 0) return;
    const form = await formOf(flags, FORMATS, this);
    const objects = found.map(json);
    if (form.kind !== 'table')
      this.print(await sortedText(form, targets.length === 1 ? (objects[0] ?? {}) : objects));
  }
}
