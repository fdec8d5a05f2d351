import ts from 'typescript';

/** Calls that wait: for time, or for something that others bring. */
const WAITS = /(?:^|\.)(?:pause|#sleep\.sleep|waitForChange|waitForRecovery|#?queue\.next)$/i;

const EXITS: ReadonlySet<ts.SyntaxKind> = new Set([
  ts.SyntaxKind.ContinueStatement,
  ts.SyntaxKind.ReturnStatement,
  ts.SyntaxKind.BreakStatement,
  ts.SyntaxKind.ThrowStatement,
]);

/** What is known of a path through statements: it ends there, or it has waited or not. */
type Path = 'ends' | 'waited' | 'not waited';

/** Reacts to the ways on which a path leaves the statements; both are given what the path has done. */
interface Exits {
  readonly onContinue: (path: Path) => void;
  readonly onReturn: (path: Path) => void;
}

/**
 * Returns the loops of a module that contain `await`, have no bound, and may turn without waiting, each by the name of the
 * function around it. An `await` of something that is done at once lets no timer, socket or signal have its turn.
 */
export function findUnpausedLoops(text: string): readonly string[] {
  if (!/\b(?:while|for) \(/.test(text) || !text.includes('await ')) return [];
  const source = ts.createSourceFile('module.ts', text, ts.ScriptTarget.Latest, true);
  const functions = new Map<string, ts.Node>();
  const loops: UnboundedLoop[] = [];
  const visit = (node: ts.Node): void => {
    if ((ts.isMethodDeclaration(node) || ts.isFunctionDeclaration(node)) && node.body !== undefined)
      functions.set(node.name?.getText() ?? '', node.body);
    if (isUnboundedLoop(node) && contains(node, ts.isAwaitExpression)) loops.push(node);
    ts.forEachChild(node, visit);
  };
  visit(source);
  return loops.filter((loop) => mayTurnUnpaused(loop, functions)).map(nameAround);
}

type UnboundedLoop = ts.WhileStatement | ts.DoStatement | ts.ForStatement;

function isUnboundedLoop(node: ts.Node): node is UnboundedLoop {
  if (ts.isForStatement(node)) return node.condition === undefined || node.incrementor === undefined;
  return ts.isWhileStatement(node) || ts.isDoStatement(node);
}

function mayTurnUnpaused(loop: UnboundedLoop, functions: ReadonlyMap<string, ts.Node>): boolean {
  let isUnpaused = false;
  const note = (path: Path): void => {
    isUnpaused ||= path === 'not waited';
  };
  const paths = new Paths(functions, {onContinue: note, onReturn: () => undefined});
  if (ts.isForStatement(loop) && loop.incrementor !== undefined)
    if (paths.through(loop.incrementor, 'not waited') === 'waited') return false;
  const condition = ts.isForStatement(loop) ? loop.condition : loop.expression;
  const before = condition === undefined ? 'not waited' : paths.through(condition, 'not waited');
  note(paths.through(loop.statement, before));
  return isUnpaused;
}

/** Follows the paths through statements. */
class Paths {
  readonly #functions: ReadonlyMap<string, ts.Node>;
  readonly #exits: Exits;
  /** Functions that are being followed, which may call themselves. */
  readonly #followed: ReadonlySet<ts.Node>;

  constructor(
    functions: ReadonlyMap<string, ts.Node>,
    exits: Exits,
    followed: ReadonlySet<ts.Node> = new Set(),
  ) {
    this.#functions = functions;
    this.#exits = exits;
    this.#followed = followed;
  }

  /** Returns what a path has done after the node. */
  through(node: ts.Node, before: Path): Path {
    if (before === 'ends') return before;
    if (ts.isBlock(node))
      return node.statements.reduce((path: Path, statement) => this.through(statement, path), before);
    if (ts.isIfStatement(node)) return this.#throughIf(node, before);
    if (ts.isTryStatement(node)) return this.#throughTry(node, before);
    const after = before === 'waited' || this.#waits(node) ? 'waited' : before;
    if (ts.isContinueStatement(node)) this.#exits.onContinue(after);
    if (ts.isReturnStatement(node)) this.#exits.onReturn(after);
    return EXITS.has(node.kind) ? 'ends' : after;
  }

  #throughIf({expression, thenStatement, elseStatement}: ts.IfStatement, before: Path): Path {
    const decided = this.through(expression, before);
    const otherwise = elseStatement === undefined ? decided : this.through(elseStatement, decided);
    return joined(this.through(thenStatement, decided), otherwise);
  }

  #throughTry({tryBlock, catchClause, finallyBlock}: ts.TryStatement, before: Path): Path {
    const tried = this.through(tryBlock, before);
    // An error may come before the wait.
    const caught = catchClause === undefined ? 'ends' : this.through(catchClause.block, before);
    const path = joined(tried, caught);
    return finallyBlock === undefined ? path : this.through(finallyBlock, path);
  }

  /** Reports whether the node waits on each path through it. */
  #waits(node: ts.Node): boolean {
    if (ts.isFunctionLike(node)) return false;
    if (ts.isConditionalExpression(node)) return this.#waits(node.condition);
    if (ts.isIterationStatement(node, false)) return false;
    if (ts.isBinaryExpression(node) && /^(?:&&|\|\||\?\?)/.test(node.operatorToken.getText()))
      return this.#waits(node.left);
    if (ts.isAwaitExpression(node) && this.#isWait(node.expression)) return true;
    return ts.forEachChild(node, (child) => this.#waits(child) || undefined) ?? false;
  }

  #isWait(node: ts.Expression): boolean {
    if (!ts.isCallExpression(node)) return false;
    const callee = node.expression;
    if (ts.isPropertyAccessExpression(callee) && callee.name.text === 'catch')
      return this.#isWait(callee.expression);
    const name = callee.getText();
    if (WAITS.test(name)) return true;
    const body = this.#functions.get(name.replace(/^this\./, ''));
    if (body === undefined || this.#followed.has(body)) return false;
    let alwaysWaits = true;
    const onReturn = (path: Path): void => {
      alwaysWaits &&= path !== 'not waited';
    };
    const followed = new Set([...this.#followed, body]);
    onReturn(
      new Paths(this.#functions, {onContinue: () => undefined, onReturn}, followed).through(
        body,
        'not waited',
      ),
    );
    return alwaysWaits;
  }
}

/** Returns what is known after either of two paths. */
function joined(one: Path, other: Path): Path {
  if (one === 'ends') return other;
  if (other === 'ends') return one;
  return one === 'waited' ? other : one;
}

/** Reports whether a loop contains such a node, outside of the functions that it creates. */
function contains(node: ts.Node, isSought: (child: ts.Node) => boolean): boolean {
  const found = (child: ts.Node): true | undefined =>
    !ts.isFunctionLike(child) && (isSought(child) || contains(child, isSought)) ? true : undefined;
  return ts.forEachChild(node, found) ?? false;
}

/** Returns the name of the method, function or variable around a node. */
function nameAround(node: ts.Node): string {
  const {parent} = node;
  if (ts.isSourceFile(parent)) return 'module';
  const isNamed =
    ts.isMethodDeclaration(parent) || ts.isFunctionDeclaration(parent) || ts.isVariableDeclaration(parent);
  return isNamed && parent.name !== undefined ? parent.name.getText() : nameAround(parent);
}
