// The demo's sales schema: four tables, a few thousand rows, the same on every machine (no random()).

/** One text of several statements, run in one transaction. */
export const DEMO_SCHEMA = `
CREATE TABLE customers (
  id int PRIMARY KEY, name text NOT NULL, region text NOT NULL, segment text NOT NULL, joined_on date NOT NULL);
COMMENT ON TABLE customers IS '고객 (customers)';
COMMENT ON COLUMN customers.region IS '지역 (region)';
COMMENT ON COLUMN customers.segment IS '고객 구분 (segment): 기업 business, 개인 consumer, 공공 public';
CREATE TABLE products (
  id int PRIMARY KEY, name text NOT NULL, category text NOT NULL, price int NOT NULL);
COMMENT ON TABLE products IS '상품 (products)';
COMMENT ON COLUMN products.price IS '정가, 원 (list price, KRW)';
CREATE TABLE orders (
  id int PRIMARY KEY, customer_id int NOT NULL REFERENCES customers, ordered_on date NOT NULL, status text NOT NULL);
COMMENT ON TABLE orders IS '주문 (orders)';
COMMENT ON COLUMN orders.status IS '상태 (status): 완료 done, 배송중 shipped, 취소 cancelled';
CREATE TABLE order_items (
  order_id int NOT NULL REFERENCES orders, line int NOT NULL, product_id int NOT NULL REFERENCES products,
  quantity int NOT NULL, amount int NOT NULL, PRIMARY KEY (order_id, line));
COMMENT ON TABLE order_items IS '주문 항목 (order items)';
COMMENT ON COLUMN order_items.amount IS '금액, 원 (amount, KRW)';

INSERT INTO customers
SELECT n, (ARRAY['한빛','가온','누리','다온','미르','새봄','아람','하늘','Northwind','Contoso'])[1 + n * 7 % 10] || ' ' ||
          (ARRAY['상사','유통','전자','식품','물산','Trading'])[1 + n * 5 % 6] || ' ' || n,
       (ARRAY['서울','부산','대구','인천','광주','대전','제주'])[1 + n * 11 % 7],
       (ARRAY['기업','개인','공공'])[1 + n * 13 % 3],
       date '2022-01-01' + n * 17 % 900
  FROM generate_series(1, 300) n;
INSERT INTO products
SELECT n, (ARRAY['노트북','모니터','키보드','의자','책상','프린터','헤드셋','카메라','스피커','Tablet'])[1 + n % 10] || ' ' || n,
       (ARRAY['전자','가구','사무용품'])[1 + n * 7 % 3], 9000 + n * 7919 % 990 * 1000
  FROM generate_series(1, 60) n;
INSERT INTO orders
SELECT n, 1 + n * 37 % 300, date '2024-01-01' + n * 29 % 730,
       (ARRAY['완료','완료','완료','배송중','취소'])[1 + n * 3 % 5]
  FROM generate_series(1, 3000) n;
INSERT INTO order_items
SELECT o.id, l, p.id, q, p.price * q
  FROM orders o, generate_series(1, 1 + o.id * 13 % 3) l,
       LATERAL (SELECT 1 + (o.id * 31 + l * 17) % 60 AS product, 1 + (o.id * 7 + l) % 5 AS q) pick
  JOIN products p ON p.id = pick.product;
CREATE INDEX ON orders (customer_id);
CREATE INDEX ON orders (ordered_on);
CREATE INDEX ON order_items (product_id);
CREATE VIEW monthly_sales AS
  SELECT date_trunc('month', o.ordered_on)::date AS month, c.region, sum(i.amount) AS amount, count(DISTINCT o.id) AS orders
    FROM orders o JOIN order_items i ON i.order_id = o.id JOIN customers c ON c.id = o.customer_id
   WHERE o.status <> '취소' GROUP BY 1, 2;
COMMENT ON VIEW monthly_sales IS '월별 지역별 매출 (sales by month and region)';
`;
