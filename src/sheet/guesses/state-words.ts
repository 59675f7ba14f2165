// The words with which people mark rows as done, wanted, left or sold out, in several languages.

import { isYes, isYesOrNo } from '../parse-cell.ts';
import { wordsOf } from './input-names.ts';

const setOf = (words: string): ReadonlySet<string> => new Set(words.split(' '));

const YES = setOf('ja oui sí si sim да 是 はい 예 네 tak evet kyllä ano igen joo ok okay ναι نعم כן có ya');
const NO = setOf(
  'nein non não nao нет 否 いいえ 아니오 아니요 nie hayır nej nee ei ne nem όχι لا לא không tidak',
);

/** States of work, as cells and as names of columns. */
const DONE = setOf(
  'done finished complete completed erledigt fertig fait faite terminé terminée fini hecho hecha listo terminado fatto completato feito concluído klaar afgerond klar färdig færdig ferdig valmis gotowe zrobione hotovo bitti tamamlandı готово сделано 完成 已完成 完了 済 済み 완료',
);
const OPEN = setOf(
  'open todo pending offen ausstehend ouvert abierto pendiente aperto aberto öppen åben åpen otwarte açık открыто 未完成 未完了 未',
);

/** Commands that take something away, and those that may also be the name of a place: `Start, Middle, End`. */
const REMOVE = setOf(
  'delete deleted remove removed löschen gelöscht entfernen supprimer supprimé effacer eliminar borrar quitar eliminare elimina cancella excluir remover verwijderen wissen radera slet slett fjern poista törlés smazat usuń удалить sil 削除 删除 刪除 삭제',
);
const END = setOf(
  'end stop close beenden terminer finalizar terminar terminare beëindigen zakończ 終了 终止',
);
/** Names of columns with a command for each row. */
const COMMANDS = setOf('action aktion acción azione ação actie operation command befehl commande 操作 动作');

/** Whether a shop has the article: `out_of_stock`, `Nicht lieferbar`. */
const STOCK =
  /^(?:(?:in|out of|low|en|sin|auf|nicht auf|no) ?(?:stock|lager)|(?:on )?back ?order(?:ed)?|pre ?order|sold ?out|(?:un|not )?available|discontinued|ausverkauft|vergriffen|(?:nicht )?(?:lieferbar|verfügbar)|rupture(?: de stock)?|(?:in)?disponible|épuisée?|agotad[oa]|esaurit[oa]|esgotad[oa]|uitverkocht|(?:niet )?op voorraad|visible|hidden|在庫(?:あり|なし)|有货|缺货|售罄|품절)$/u;

/** Last words of names that ask for a state. No setting ends like `rendered` does. */
const NAMES = setOf(
  'statut stato estado état etat zustand durum статус 状态 状態 상태 active inactive enabled disabled aktiv inaktiv actif actief activo activa attivo ativo aktif активно freigegeben geprüft bearbeitet gesendet veröffentlicht verwendet publié publicado pubblicato übersprungen ready todo',
);
/** Names that ask whether to do something with a row. */
const VERBS = setOf('use run include exclude ignore generate render send make print export go');

export const saysYes = (word: string): boolean => isYes(word) || YES.has(word);

export const saysYesOrNo = (word: string): boolean => isYesOrNo(word) || YES.has(word) || NO.has(word);

/** Whether the word is a state of work, such as `erledigt`, or of an article. */
export const isStateWord = (word: string): boolean =>
  DONE.has(word) || OPEN.has(word) || STOCK.test(word.replaceAll(/[\s_-]+/g, ' ').trim());

/** Whether the word removes or ends what the row is about, in a column of this name. */
export const isRemoval = (word: string, column: string): boolean =>
  REMOVE.has(word) || (END.has(word) && wordsOf(column).some((name) => COMMANDS.has(name)));

/** Whether the name asks for the state of each row: `Done?`, `Lead status`, `Rendered`, `Bereits erledigt`. */
export function asksState(column: string): boolean {
  const words = wordsOf(column);
  const last = words.at(-1) ?? '';
  const isPast = words.length <= 2 && /^.{3,}[^e]ed$/.test(last);
  return (
    isPast ||
    DONE.has(last) ||
    NAMES.has(last) ||
    words.some((word) => /^(?:status|state|done|skip)$/.test(word))
  );
}

/** Whether the name is a short question: `In stock?`, `Foto?`. Those of forms are longer. */
export const isQuestion = (column: string): boolean =>
  /[?？]\s*$/.test(column) && wordsOf(column).length <= MAX_ASKED;

const MAX_ASKED = 3;

/** Whether a yes asks for the run: `Paid?`, `À refaire ?`, `Use`. That of `Done?` and `Skip?` says that none is needed. */
export function isWish(column: string): boolean {
  const isAsked = /[?？]\s*$/.test(column) || asksChoice(column);
  return isAsked && !wordsOf(column).some((word) => DONE.has(word) || NEEDLESS.test(word));
}

/** Words for rows that are no longer to run. */
const NEEDLESS =
  /^(?:.{3,}[^e]ed|used|sent|skip|exclude|ignore|gesendet|verwendet|bearbeitet|übersprungen|veröffentlicht|publi(?:é|cado)|pubblicato|envoyé|enviado)$/;

/** Whether the name says what to do with the row: `Use?`, `generate`. */
export function asksChoice(column: string): boolean {
  const [word = '', ...more] = wordsOf(column);
  return more.length === 0 && VERBS.has(word);
}
