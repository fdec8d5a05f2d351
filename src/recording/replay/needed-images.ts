import {stringAt} from '../../base/string-at.js';
import type {RecordedCall} from './recorded-calls.js';

/** An image that a recording pulls, or creates containers from. */
export interface NeededImage {
  /** Text by which containers refer to it: an ID or a name. */
  readonly reference: string;
  /** Name to look it up and to pull it by. */
  readonly name: string;
  /** True if the recording pulls it. */
  readonly isPulled: boolean;
}

/** Returns the images that the calls need, each once. A pull whose credentials are masked cannot be made again. */
export function neededImages(calls: readonly RecordedCall[]): readonly NeededImage[] {
  const lookedUp = calls.filter(({method: {rpc}}) => rpc === 'ImageStatus' || rpc === 'PullImage');
  const names = new Map(lookedUp.map((call) => [referenceOf(call), nameOf(call)]));
  const pulls = calls.filter(({method: {rpc}}) => rpc === 'PullImage');
  const pulled = new Set(pulls.filter(({request}) => request['auth'] === undefined).map(nameOf));
  const created = calls.filter(({method: {rpc}}) => rpc === 'CreateContainer');
  const needed = [
    ...pulls.map((call) => ({reference: referenceOf(call), name: nameOf(call)})),
    ...created.map(({request}) => {
      const reference = stringAt(request, 'config', 'image', 'image') ?? '';
      const specified = stringAt(request, 'config', 'image', 'userSpecifiedImage') ?? '';
      return {reference, name: specified === '' ? (names.get(reference) ?? reference) : specified};
    }),
  ].filter(({name}) => name !== '');
  const each = new Map(
    needed.map((image) => [image.reference, {...image, isPulled: pulled.has(image.name)}]),
  );
  return [...each.values()];
}

function nameOf({request}: RecordedCall): string {
  return stringAt(request, 'image', 'image') ?? '';
}

/** Returns the ID that a runtime answered for an image; its name without one. */
function referenceOf(call: RecordedCall): string {
  return stringAt(call.response, 'image', 'id') ?? stringAt(call.response, 'imageRef') ?? nameOf(call);
}
