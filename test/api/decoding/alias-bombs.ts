const NINE = Array.from({length: 9});

/** Returns YAML members `x0` to `xN`, each a list of nine aliases of the previous one: 9^(N+1) values. */
function laughs(levels: number): string {
  const level = (index: number): string =>
    `x${index}: &x${index} [${NINE.map(() => (index === 0 ? 'lol' : `*x${index - 1}`)).join(', ')}]\n`;
  return Array.from({length: levels}, (_, index) => level(index)).join('');
}

/** Returns YAML members, each of which contains an alias of the previous one in a list or, with a name, in that member. */
function chain(length: number, member?: string): string {
  const wrap = (text: string): string => (member === undefined ? `[${text}]` : `{${member}: [${text}]}`);
  return Array.from(
    {length},
    (_, index) => `c${index}: &c${index} ${wrap(index === 0 ? '' : `*c${index - 1}`)}\n`,
  ).join('');
}

/** YAML members whose size or depth grows with each alias, by a description; they fit into any object. */
export const ALIAS_BOMBS: Readonly<Record<string, string>> = {
  'a list of lists': laughs(9),
  'items of a list': `${chain(31, 'items').replace(/\[(\*c\d+)\]/g, '[$1, $1]')}items: [*c30]\n`,
  'a chain of lists': chain(8_000),
  'a chain of items': `${chain(8_000, 'items')}items: [*c7999]\n`,
};
