import type {StoredObject} from './object-storage.js';

type Predicate = (object: StoredObject) => boolean;

/** Returns a predicate for the selectors of a list or watch: terms such as `metadata.name=x,status.phase!=Failed`. */
export function selectorOf({
  fieldSelector = '',
  labelSelector = '',
}: Readonly<Record<string, string>>): Predicate {
  const fields = termsOf(fieldSelector, (object, path) => valueAt(object, path.split('.')));
  const labels = termsOf(labelSelector, ({metadata}, name) => valueAt(metadata['labels'], [name]));
  return (object) => [...fields, ...labels].every((matches) => matches(object));
}

function termsOf(text: string, read: (object: StoredObject, path: string) => string): readonly Predicate[] {
  return text
    .split(',')
    .filter((term) => term !== '')
    .map((term) => {
      const {
        path = '',
        not,
        value = '',
      } = /^(?<path>[^!=]+)(?<not>!)?==?(?<value>.*)$/.exec(term)?.groups ?? {};
      return (object) => (read(object, path) === value) === (not === undefined);
    });
}

/** Returns the value as text; empty if there is none. */
function valueAt(object: unknown, path: readonly string[]): string {
  const value = path.reduce<unknown>(
    (within, name) => (within as Readonly<Record<string, unknown>> | undefined)?.[name],
    object,
  );
  return typeof value === 'string' || typeof value === 'boolean' ? String(value) : '';
}
