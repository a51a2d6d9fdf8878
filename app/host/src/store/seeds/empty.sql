-- Nobody met, nothing played.
SELECT 1;
