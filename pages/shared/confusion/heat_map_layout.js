// How large the cells of the confusion table are: all columns fit the width, so that nothing scrolls sideways. Pure.

const GAP_OF_SIDES = 10; // pixels before the column and the row that stand apart
const [SMALLEST, WIDEST, HIGHEST] = [4, 64, 34]; // pixels of a cell
const [LETTER, DIGIT] = [9, 7]; // pixels of a wide character of a label, and of a number
const LABELS = 220; // pixels of the labels beside the rows and above the columns at most
const [UPRIGHT, BESIDE_LABEL] = [152, 8]; // pixels of upright labels, and between a label and its row

// `width` in pixels, the number of columns, and the characters of the longest label and of the longest text of a cell.
function mapLayout(width, columns, longest, widestText) {
  const label = Math.min(LABELS, Math.floor(width * 0.3), longest * LETTER + 12);
  const cell = Math.max(SMALLEST, Math.min(WIDEST, Math.floor((width - label - GAP_OF_SIDES - 2) / columns)));
  const hasTexts = cell >= widestText * DIGIT + 6;
  const row = hasTexts ? Math.max(24, Math.min(HIGHEST, cell)) : Math.min(HIGHEST, cell);
  const font = Math.max(10, Math.min(14, row - 1));
  return {
    label,
    cell,
    row,
    font,
    hasTexts,
    isUpright: cell < longest * LETTER + 8,
    // Labels of every second or third type where there is no room for all.
    everyRow: Math.ceil(font / row),
    everyColumn: Math.ceil(font / cell),
  };
}
