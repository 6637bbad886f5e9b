-- A further reason of a rank (lib/ranking/order.h).
ALTER TABLE ranking
  MODIFY reason ENUM('slower', 'failed', 'circle', 'tie', 'chain', 'between') CHARACTER SET ascii NULL
    COMMENT 'NULL: its time alone gives the same rank';
