import * as Flags from '@oclif/core/flags';
import {imageArgs} from '../cli/arguments.js';
import {IMAGE_FILTER} from '../cli/filter-flags.js';
import {INSPECT_FLAGS, InspectCommand} from '../cli/inspect-command.js';
import {imageStatusFacts} from '../cli/views/status-facts.js';
import {imageStatusJson} from '../cli/views/status-json.js';
import {imageStatusText} from '../cli/views/status-text.js';
import type {Image} from '../cri/index.js';
import {listImages, type ImageQuery} from '../operations/images.js';
import {inspectImage} from '../operations/inspect.js';
import {nothingFound, resolveImages, type Target} from '../operations/resolve.js';
import {withContext} from '../operations/with-context.js';

export default class Inspecti extends InspectCommand {
  static override summary = 'Show all about images';
  static override description =
    'Without names, all images that the filters let through. A name without a tag is latest, or the only tag that ' +
    'there is.';
  static override usage = 'inspecti [IMAGE...] [OPTIONS]';
  static override examples = [
    '<%= config.bin %> inspecti busybox:1.36',
    '<%= config.bin %> inspecti busybox -o table',
    "<%= config.bin %> inspecti --name 'registry.k8s.io/*' -q",
    "<%= config.bin %> inspecti busybox -o jsonpath='{.info.imageSpec.config.Env}'",
  ];
  static override args = imageArgs;
  static override flags = {
    ...INSPECT_FLAGS,
    name: Flags.string({
      helpValue: 'NAME',
      description: 'Only images of this name, with any tag unless it has one; * stands for anything.',
    }),
    filter: IMAGE_FILTER,
  };

  async run(): Promise<void> {
    const {args, flags} = await this.parse(Inspecti);
    await this.checkFormat(flags);
    const {images} = await this.cri();
    const {signal} = this;
    await this.inspect(flags, {
      targets: await this.#targets(args.image ?? [], {name: flags.name, filters: flags.filter}),
      fetch: async (ref, verbose) => await inspectImage(images, ref, {verbose, signal}),
      json: imageStatusJson,
      text: imageStatusFacts,
      crictlText: imageStatusText,
    });
  }

  async #targets(refs: readonly string[], query: ImageQuery): Promise<readonly Target<string>[]> {
    const {images} = await this.cri();
    if (refs.length > 0)
      return this.compat ? refs.map(found) : await resolveImages(images, refs, this.signal);
    const chosen = await (this.compat ? this.#listAsCrictl(query) : this.#list(query));
    if (chosen.length === 0) throw nothingFound('kcri images');
    return chosen.map(({id}) => found(id));
  }

  async #list(query: ImageQuery): Promise<readonly Image[]> {
    const {images} = await this.cri();
    const onNote = (text: string): void => void this.warn(text);
    return await withContext('listing images', listImages(images, query, {signal: this.signal, onNote}));
  }

  async #listAsCrictl(query: ImageQuery): Promise<readonly Image[]> {
    const {crictlImages} = await import('../cli/compat/lists.js');
    const {images} = await this.cri();
    return await crictlImages(images, query, this.signal);
  }
}

function found(ref: string): Target<string> {
  return {kind: 'found', ref, id: ref};
}
